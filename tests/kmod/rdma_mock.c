// SPDX-License-Identifier: GPL-2.0-only
/*
 * rdma_mock: RDMA devices that move no data, for testing udev rules, udev
 * helpers and daemons.  TEST USE ONLY.
 *
 * Devices are made three ways:
 *   1. at load time:   modprobe rdma_mock n=4 defaults="proto=ib ports=2"
 *   2. at run time:    echo "add name=mock0 proto=ib ports=2" > /dev/rdma_mock
 *   3. by PCI probe:   QEMU's edu device (1234:11e8), or any device given with
 *                      driver_override / new_id; the ib device then has a real
 *                      PCI parent, and leaves on unbind or hot unplug.
 *
 * /dev/rdma_mock takes one command a write; a read lists the devices:
 * first name, name, protocols, ports, node GUID, parent.
 *
 *   add [name=mock%d] [count=1] OPTIONS
 *   del NAME|all             (one bound to PCI: EBUSY; unbind or unplug it)
 *   port NAME P [state=] [lid=] [smlid=] [caps=] [guid=] [prefix=]
 *   event NAME TYPE [P]      (an asynchronous event, see events[])
 *   pci BDF|* OPTIONS        what the next PCI probe of that function makes
 *   fail BDF                 its devlink health reporter tells of an error, and
 *                            recovers: the ib device goes and comes back
 *   fail BDF reload          its next reload will fail
 *
 * OPTIONS:
 *   proto=ib|roce|roce1|iwarp|opa   or a list, one a port: ib:roce
 *   ports=1             defaults to the length of the list of protocols
 *   guid=HEX            node GUID, made up if not given
 *   pguid=HEX           GUID of port 1, further ports count up from it; or a
 *                       list, one a port: a:b, where 0 is a port without GUID
 *   state=active|down|init|armed
 *   netdev=a:b          network devices of ports 1, 2, ..., empty for none
 *                       (iWARP needs them); "new" makes one on the same parent,
 *                       whose random MAC address can be changed. GID 0 of a
 *                       RoCE port follows that address
 *   parent=platform|0000:03:00.0    without it, ports that speak InfiniBand or
 *                       OPA get a platform device, others hang on nothing
 *   sf=N                with a PCI parent: hang on an auxiliary device of it
 *                       that has N as its sfnum, or none if N is "none"
 *   driver=N            enum rdma_driver_id; the default, RXE, lets libibverbs
 *                       open the device; it is UNKNOWN with a netdev, as rxe and
 *                       siw take any device of theirs on one for one they made
 *   disassociate=0      removal waits for open uverbs files, as with many
 *                       real drivers
 *   delay=MS            how long the probe takes
 *
 * A function bound to PCI is a devlink instance, too, that can be reloaded
 * ("devlink dev reload pci/BDF"): the ib device goes and comes back.
 */
#include <linux/module.h>
#include <linux/version.h>
#include <linux/pci.h>
#include <linux/miscdevice.h>
#include <linux/platform_device.h>
#include <linux/auxiliary_bus.h>
#include <linux/netdevice.h>
#include <linux/etherdevice.h>
#include <linux/delay.h>
#include <linux/uaccess.h>
#include <linux/slab.h>
#include <net/devlink.h>
#include <rdma/ib_verbs.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_smi.h>
#include <rdma/ib_pma.h>
#include <rdma/iw_cm.h>

#define DRV "rdma_mock"
#define MOCK_MAX_PORTS 254
#define MOCK_ANY_DRIVER U32_MAX
#define MOCK_MAX_LIST 8	/* ports that a list can name */

enum mock_proto { P_IB, P_ROCE, P_ROCE1, P_IWARP, P_OPA };
static const char * const proto_names[] = { "ib", "roce", "roce1", "iwarp", "opa" };

static bool has_mads(enum mock_proto p) { return p == P_IB || p == P_OPA; }
static bool has_gid_table(enum mock_proto p) { return p == P_ROCE || p == P_ROCE1; }

struct mock_cfg {
	char	name[IB_DEVICE_NAME_MAX];
	char	netdev[64];		/* "a" or "a:b": ports 1, 2, ... */
	char	parent[32];		/* "", "platform" or a PCI address */
	char	bdf[32];		/* for presets only */
	enum mock_proto proto[MOCK_MAX_LIST]; /* the last one goes on */
	u32	protos;
	u32	ports;			/* 0 = protos */
	u32	count;
	u64	guid;			/* node GUID, 0 = made up */
	u64	pguid[MOCK_MAX_LIST];	/* the last one counts up */
	u32	pguids;			/* 0 = node GUID + port */
	u32	disassociate;
	u8	state;
	u32	driver;			/* enum rdma_driver_id */
	u32	delay;			/* ms to sleep before registering */
	bool	aux, has_sfnum;
	u32	sfnum;
	struct list_head node;
};

struct mock_port {
	enum mock_proto proto;
	u8	state;			/* enum ib_port_state */
	u8	phys;
	u8	lmc, sm_sl;
	u32	lid, sm_lid;
	u32	caps;
	__be64	guid;
	__be64	prefix;
};

/* what a sub-function is to the kernel: a device on the auxiliary bus, below the PCI function */
struct mock_aux {
	struct auxiliary_device adev;
	u32	sfnum;
};

struct mock_dev {
	struct ib_device ib;
	struct list_head node;
	struct pci_dev	*pdev;		/* bound function, or NULL */
	struct pci_dev	*parent;	/* borrowed parent, or NULL */
	struct net_device *eth[MOCK_MAX_LIST];	/* made here, of ports 1, 2, ... */
	struct platform_device *plat;
	struct mock_aux	*aux;
	char	tag[IB_DEVICE_NAME_MAX]; /* the first name */
	u32	nports;
	__be64	guid;
	struct mock_port *port;		/* [1..nports] */
};

struct mock_wc { struct list_head l; struct ib_wc wc; };
struct mock_cq {
	struct ib_cq	cq;
	spinlock_t	lock;
	struct list_head wcs;
	bool		armed;
};
struct mock_rwr { struct list_head l; u64 wr_id; };
struct mock_qp {
	struct ib_qp	qp;
	spinlock_t	lock;
	struct list_head rwrs;
};
struct mock_pd { struct ib_pd pd; };
struct mock_ah { struct ib_ah ah; };
struct mock_uctx { struct ib_ucontext uctx; };

static LIST_HEAD(devs);
static LIST_HEAD(presets);
static DEFINE_MUTEX(lock);
static atomic_t next_id = ATOMIC_INIT(0);
static atomic_t next_qpn = ATOMIC_INIT(16);

static int n;
module_param(n, int, 0444);
MODULE_PARM_DESC(n, "number of devices to make at load time");
static char *defaults = "";
module_param(defaults, charp, 0444);
MODULE_PARM_DESC(defaults, "options for the devices made at load time and by PCI probe");
static char *pci_driver_name = DRV;
module_param(pci_driver_name, charp, 0444);
MODULE_PARM_DESC(pci_driver_name, "name of the PCI driver, e.g. ib_mthca so that rdma-core's DRIVERS== rules match");

static struct mock_dev *to_mock(struct ib_device *ib)
{
	return container_of(ib, struct mock_dev, ib);
}

/* ---- device and port queries ------------------------------------------- */

static int mock_query_device(struct ib_device *ib, struct ib_device_attr *a,
			     struct ib_udata *udata)
{
	struct mock_dev *m = to_mock(ib);

	memset(a, 0, sizeof(*a));
	a->fw_ver = 0x000100020003ULL;
	a->sys_image_guid = m->guid;
	a->vendor_id = m->pdev ? m->pdev->vendor : 0x1234;
	a->vendor_part_id = m->pdev ? m->pdev->device : 0x11e8;
	a->hw_ver = 1;
	a->max_mr_size = ~0ull;
	a->page_size_cap = PAGE_SIZE;
	a->max_qp = a->max_cq = a->max_mr = a->max_pd = a->max_ah = 1 << 16;
	a->max_qp_wr = a->max_cqe = 1 << 15;
	a->max_send_sge = a->max_recv_sge = a->max_sge_rd = 32;
	a->max_pkeys = 1;
	a->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	return 0;
}

static int mock_query_port(struct ib_device *ib, u32 num, struct ib_port_attr *a)
{
	struct mock_port *p = &to_mock(ib)->port[num];

	/* the core has zeroed *a */
	a->state = p->state;
	a->phys_state = p->phys;
	a->max_mtu = IB_MTU_4096;
	a->active_mtu = IB_MTU_4096;
	a->gid_tbl_len = p->proto == P_IWARP ? 1 : 16;
	a->pkey_tbl_len = p->proto == P_IWARP ? 0 : 1;
	a->port_cap_flags = p->caps;
	if (has_mads(p->proto))
		a->subnet_prefix = be64_to_cpu(p->prefix);
	a->max_msg_sz = 1 << 30;
	a->lid = p->lid;
	a->sm_lid = p->sm_lid;
	a->lmc = p->lmc;
	a->sm_sl = p->sm_sl;
	a->max_vl_num = 1;
	a->active_width = IB_WIDTH_4X;
	a->active_speed = IB_SPEED_EDR;
	a->ip_gids = !has_mads(p->proto);
	return 0;
}

static int mock_modify_port(struct ib_device *ib, u32 num, int mask,
			    struct ib_port_modify *mod)
{
	struct mock_port *p = &to_mock(ib)->port[num];

	p->caps = (p->caps | mod->set_port_cap_mask) & ~mod->clr_port_cap_mask;
	return 0;
}

static int mock_modify_device(struct ib_device *ib, int mask,
			      struct ib_device_modify *mod)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (mask & IB_DEVICE_MODIFY_NODE_DESC)
		memcpy(ib->node_desc, mod->node_desc, IB_DEVICE_NODE_DESC_MAX);
	return 0;
}

static int mock_port_immutable(struct ib_device *ib, u32 num,
			       struct ib_port_immutable *im)
{
	static const u32 flags[] = {
		[P_IB]    = RDMA_CORE_PORT_IBA_IB,
		[P_ROCE]  = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP,
		[P_ROCE1] = RDMA_CORE_PORT_IBA_ROCE,
		[P_IWARP] = RDMA_CORE_PORT_IWARP,
		[P_OPA]   = RDMA_CORE_PORT_INTEL_OPA,
	};
	enum mock_proto proto = to_mock(ib)->port[num].proto;
	struct ib_port_attr a = {};
	int ret;

	im->core_cap_flags = flags[proto];
	ret = ib_query_port(ib, num, &a);
	if (ret)
		return ret;
	im->gid_tbl_len = a.gid_tbl_len;
	im->pkey_tbl_len = a.pkey_tbl_len;
	if (proto == P_OPA)
		im->max_mad_size = OPA_MGMT_MAD_SIZE;
	else if (proto != P_IWARP)
		im->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer mock_link_layer(struct ib_device *ib, u32 num)
{
	return has_mads(to_mock(ib)->port[num].proto) ? IB_LINK_LAYER_INFINIBAND :
							IB_LINK_LAYER_ETHERNET;
}

static int mock_query_gid(struct ib_device *ib, u32 num, int idx, union ib_gid *gid)
{
	struct mock_port *p = &to_mock(ib)->port[num];

	memset(gid, 0, sizeof(*gid));
	if (idx)
		return 0;
	gid->global.subnet_prefix = p->prefix;
	gid->global.interface_id = p->guid;
	return 0;
}

static int mock_query_pkey(struct ib_device *ib, u32 num, u16 idx, u16 *pkey)
{
	if (idx)
		return -EINVAL;
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

static int mock_gid_noop(const struct ib_gid_attr *attr, void **ctx)
{
	return 0;
}

static void mock_fw_str(struct ib_device *ib, char *str)
{
	snprintf(str, IB_FW_VERSION_NAME_MAX, "1.2.3");
}

/* ---- management datagrams, enough for smpquery and perfquery ------------- */

static int mock_process_mad(struct ib_device *ib, int flags, u32 num,
			    const struct ib_wc *wc, const struct ib_grh *grh,
			    const struct ib_mad *in, struct ib_mad *out,
			    size_t *outlen, u16 *outpkey)
{
	struct mock_dev *m = to_mock(ib);
	struct mock_port *p = &m->port[num];
	struct ib_smp *smp = (struct ib_smp *)out;

	if (in->mad_hdr.base_version != IB_MGMT_BASE_VERSION)
		return IB_MAD_RESULT_FAILURE;
	if (in->mad_hdr.method != IB_MGMT_METHOD_GET &&
	    in->mad_hdr.method != IB_MGMT_METHOD_SET)
		return IB_MAD_RESULT_SUCCESS;
	memcpy(out, in, sizeof(*out));

	if (in->mad_hdr.mgmt_class == IB_MGMT_CLASS_PERF_MGMT) {
		memset(out->data, 0, sizeof(out->data));
		out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	}
	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_SUBN_LID_ROUTED &&
	    in->mad_hdr.mgmt_class != IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		return IB_MAD_RESULT_SUCCESS;

	switch (smp->attr_id) {
	case IB_SMP_ATTR_NODE_DESC:
		memcpy(smp->data, ib->node_desc, sizeof(smp->data));
		break;
	case IB_SMP_ATTR_NODE_INFO: {
		struct ib_node_info *ni = (void *)smp->data;

		memset(smp->data, 0, sizeof(smp->data));
		ni->base_version = 1;
		ni->class_version = 1;
		ni->node_type = 1;
		ni->num_ports = m->nports;
		ni->sys_guid = m->guid;
		ni->node_guid = m->guid;
		ni->port_guid = p->guid;
		ni->partition_cap = cpu_to_be16(1);
		ni->local_port_num = num;
		break;
	}
	case IB_SMP_ATTR_PORT_INFO: {
		struct ib_port_info *pi = (void *)smp->data;

		if (in->mad_hdr.method == IB_MGMT_METHOD_SET) {
			u8 want = pi->linkspeed_portstate & 0xf;
			struct ib_event ev = { .device = ib, .element.port_num = num };
			bool lidc = p->lid != be16_to_cpu(pi->lid);
			bool smc = p->sm_lid != be16_to_cpu(pi->sm_lid);
			bool act = want == IB_PORT_ACTIVE && p->state != want;

			p->lid = be16_to_cpu(pi->lid);
			p->sm_lid = be16_to_cpu(pi->sm_lid);
			p->prefix = pi->gid_prefix;
			p->lmc = pi->mkeyprot_resv_lmc & 7;
			if (want == IB_PORT_ARMED || want == IB_PORT_ACTIVE)
				p->state = want;
			if (lidc) {
				ev.event = IB_EVENT_LID_CHANGE;
				ib_dispatch_event(&ev);
			}
			if (smc) {
				ev.event = IB_EVENT_SM_CHANGE;
				ib_dispatch_event(&ev);
			}
			if (act) {
				ev.event = IB_EVENT_PORT_ACTIVE;
				ib_dispatch_event(&ev);
			}
		}
		memset(smp->data, 0, sizeof(smp->data));
		pi->gid_prefix = p->prefix;
		pi->lid = cpu_to_be16(p->lid);
		pi->sm_lid = cpu_to_be16(p->sm_lid);
		pi->cap_mask = cpu_to_be32(p->caps);
		pi->local_port_num = num;
		pi->link_width_enabled = pi->link_width_supported = 3;
		pi->link_width_active = IB_WIDTH_4X;
		pi->linkspeed_portstate = (7 << 4) | p->state;
		pi->portphysstate_linkdown = (p->phys << 4) | 2;
		pi->mkeyprot_resv_lmc = p->lmc;
		pi->linkspeedactive_enabled = (4 << 4) | 7;
		pi->neighbormtu_mastersmsl = (IB_MTU_4096 << 4) | p->sm_sl;
		pi->vlcap_inittype = 1 << 4;
		pi->inittypereply_mtucap = IB_MTU_4096;
		pi->operationalvl_pei_peo_fpi_fpo = 1 << 4;
		pi->guid_cap = 1;
		break;
	}
	case IB_SMP_ATTR_GUID_INFO:
		memset(smp->data, 0, sizeof(smp->data));
		memcpy(smp->data, &p->guid, 8);
		break;
	case IB_SMP_ATTR_PKEY_TABLE:
		memset(smp->data, 0, sizeof(smp->data));
		smp->data[0] = smp->data[1] = 0xff;
		break;
	default:
		smp->status = cpu_to_be16(0x000c);	/* unsupported attribute */
	}
	smp->method = IB_MGMT_METHOD_GET_RESP;
	if (smp->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		smp->status |= IB_SMP_DIRECTION;
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

/* ---- verbs: sends complete at once, receives only ever get flushed ------- */

static int mock_alloc_ucontext(struct ib_ucontext *u, struct ib_udata *d) { return 0; }
static void mock_dealloc_ucontext(struct ib_ucontext *u) { }
static void mock_disassociate(struct ib_ucontext *u) { }
static int mock_alloc_pd(struct ib_pd *pd, struct ib_udata *d) { return 0; }
static int mock_dealloc_pd(struct ib_pd *pd, struct ib_udata *d) { return 0; }
static int mock_create_ah(struct ib_ah *ah, struct rdma_ah_init_attr *a,
			  struct ib_udata *d) { return 0; }
static int mock_destroy_ah(struct ib_ah *ah, u32 flags) { return 0; }

static void cq_push(struct ib_cq *ibcq, const struct ib_wc *wc)
{
	struct mock_cq *c = container_of(ibcq, struct mock_cq, cq);
	struct mock_wc *w = kzalloc(sizeof(*w), GFP_ATOMIC);
	unsigned long fl;
	bool kick;

	if (!w)
		return;
	w->wc = *wc;
	spin_lock_irqsave(&c->lock, fl);
	list_add_tail(&w->l, &c->wcs);
	kick = c->armed;
	c->armed = false;
	spin_unlock_irqrestore(&c->lock, fl);
	if (kick && ibcq->comp_handler)
		ibcq->comp_handler(ibcq, ibcq->cq_context);
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
static int mock_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *user)
#else
static int mock_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
			  struct ib_udata *user)
#endif
{
	struct mock_cq *c = container_of(ibcq, struct mock_cq, cq);

	if (user)
		return -EOPNOTSUPP;
	spin_lock_init(&c->lock);
	INIT_LIST_HEAD(&c->wcs);
	ibcq->cqe = attr->cqe;
	return 0;
}

static int mock_destroy_cq(struct ib_cq *ibcq, struct ib_udata *d)
{
	struct mock_cq *c = container_of(ibcq, struct mock_cq, cq);
	struct mock_wc *w, *t;

	list_for_each_entry_safe(w, t, &c->wcs, l)
		kfree(w);
	return 0;
}

static int mock_poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc)
{
	struct mock_cq *c = container_of(ibcq, struct mock_cq, cq);
	unsigned long fl;
	int i = 0;

	spin_lock_irqsave(&c->lock, fl);
	while (i < num && !list_empty(&c->wcs)) {
		struct mock_wc *w = list_first_entry(&c->wcs, struct mock_wc, l);

		list_del(&w->l);
		wc[i++] = w->wc;
		kfree(w);
	}
	spin_unlock_irqrestore(&c->lock, fl);
	return i;
}

static int mock_req_notify(struct ib_cq *ibcq, enum ib_cq_notify_flags f)
{
	struct mock_cq *c = container_of(ibcq, struct mock_cq, cq);
	unsigned long fl;
	int ret;

	spin_lock_irqsave(&c->lock, fl);
	c->armed = true;
	ret = (f & IB_CQ_REPORT_MISSED_EVENTS) && !list_empty(&c->wcs);
	spin_unlock_irqrestore(&c->lock, fl);
	return ret;
}

static int mock_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *a,
			  struct ib_udata *d)
{
	struct mock_qp *q = container_of(ibqp, struct mock_qp, qp);

	if (d)
		return -EOPNOTSUPP;
	spin_lock_init(&q->lock);
	INIT_LIST_HEAD(&q->rwrs);
	if (a->qp_type == IB_QPT_SMI)
		ibqp->qp_num = 0;
	else if (a->qp_type == IB_QPT_GSI)
		ibqp->qp_num = 1;
	else
		ibqp->qp_num = atomic_inc_return(&next_qpn);
	return 0;
}

static void qp_drop_recv(struct mock_qp *q, bool flush)
{
	struct mock_rwr *r, *t;
	unsigned long fl;
	LIST_HEAD(l);

	spin_lock_irqsave(&q->lock, fl);
	list_splice_init(&q->rwrs, &l);
	spin_unlock_irqrestore(&q->lock, fl);
	list_for_each_entry_safe(r, t, &l, l) {
		if (flush && q->qp.recv_cq) {
			struct ib_wc wc = { .wr_id = r->wr_id, .qp = &q->qp,
					    .status = IB_WC_WR_FLUSH_ERR,
					    .opcode = IB_WC_RECV };
			cq_push(q->qp.recv_cq, &wc);
		}
		kfree(r);
	}
}

static int mock_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *a, int mask,
			  struct ib_udata *d)
{
	struct mock_qp *q = container_of(ibqp, struct mock_qp, qp);

	if ((mask & IB_QP_STATE) && a->qp_state == IB_QPS_ERR)
		qp_drop_recv(q, true);
	return 0;
}

static int mock_destroy_qp(struct ib_qp *ibqp, struct ib_udata *d)
{
	qp_drop_recv(container_of(ibqp, struct mock_qp, qp), false);
	return 0;
}

static int mock_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
			  const struct ib_send_wr **bad)
{
	for (; wr; wr = wr->next) {
		struct ib_wc wc = { .wr_id = wr->wr_id, .qp = ibqp,
				    .status = IB_WC_SUCCESS, .opcode = IB_WC_SEND };
		cq_push(ibqp->send_cq, &wc);
	}
	return 0;
}

static int mock_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
			  const struct ib_recv_wr **bad)
{
	struct mock_qp *q = container_of(ibqp, struct mock_qp, qp);
	unsigned long fl;

	for (; wr; wr = wr->next) {
		struct mock_rwr *r = kmalloc(sizeof(*r), GFP_ATOMIC);

		if (!r) {
			*bad = wr;
			return -ENOMEM;
		}
		r->wr_id = wr->wr_id;
		spin_lock_irqsave(&q->lock, fl);
		list_add_tail(&r->l, &q->rwrs);
		spin_unlock_irqrestore(&q->lock, fl);
	}
	return 0;
}

static struct ib_mr *mock_get_dma_mr(struct ib_pd *pd, int acc)
{
	struct ib_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	return mr ? mr : ERR_PTR(-ENOMEM);
}

static struct ib_mr *mock_reg_user_mr(struct ib_pd *pd, u64 start, u64 len,
				      u64 virt, int acc,
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
				      struct ib_dmah *dmah,
#endif
				      struct ib_udata *d)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static int mock_dereg_mr(struct ib_mr *mr, struct ib_udata *d)
{
	kfree(mr);
	return 0;
}

static void mock_iw_ref(struct ib_qp *qp) { }
static struct ib_qp *mock_iw_get_qp(struct ib_device *d, int qpn) { return NULL; }
static int mock_iw_connect(struct iw_cm_id *id, struct iw_cm_conn_param *p) { return -ENOSYS; }
static int mock_iw_reject(struct iw_cm_id *id, const void *p, u8 l) { return -ENOSYS; }
static int mock_iw_listen(struct iw_cm_id *id, int b) { return -ENOSYS; }
static int mock_iw_unlisten(struct iw_cm_id *id) { return 0; }

static ssize_t hca_type_show(struct device *d, struct device_attribute *a, char *b)
{
	return sysfs_emit(b, "MOCK\n");
}
static DEVICE_ATTR_RO(hca_type);
static ssize_t board_id_show(struct device *d, struct device_attribute *a, char *b)
{
	return sysfs_emit(b, "MOCK0001\n");
}
static DEVICE_ATTR_RO(board_id);
static ssize_t hw_rev_show(struct device *d, struct device_attribute *a, char *b)
{
	return sysfs_emit(b, "1\n");
}
static DEVICE_ATTR_RO(hw_rev);
static struct attribute *mock_attrs[] = {
	&dev_attr_hca_type.attr, &dev_attr_board_id.attr, &dev_attr_hw_rev.attr, NULL
};
static const struct attribute_group mock_group = { .attrs = mock_attrs };

static const struct ib_device_ops mock_ops = {
	.owner = THIS_MODULE,
	.uverbs_abi_ver = 2,		/* librxe's */
	.device_group = &mock_group,
	.query_device = mock_query_device,
	.modify_device = mock_modify_device,
	.query_port = mock_query_port,
	.modify_port = mock_modify_port,
	.get_port_immutable = mock_port_immutable,
	.get_link_layer = mock_link_layer,
	.query_gid = mock_query_gid,
	.query_pkey = mock_query_pkey,
	.get_dev_fw_str = mock_fw_str,
	.alloc_ucontext = mock_alloc_ucontext,
	.dealloc_ucontext = mock_dealloc_ucontext,
	.alloc_pd = mock_alloc_pd,
	.dealloc_pd = mock_dealloc_pd,
	.create_ah = mock_create_ah,
	.destroy_ah = mock_destroy_ah,
	.create_cq = mock_create_cq,
	.destroy_cq = mock_destroy_cq,
	.poll_cq = mock_poll_cq,
	.req_notify_cq = mock_req_notify,
	.create_qp = mock_create_qp,
	.modify_qp = mock_modify_qp,
	.destroy_qp = mock_destroy_qp,
	.post_send = mock_post_send,
	.post_recv = mock_post_recv,
	.get_dma_mr = mock_get_dma_mr,
	.reg_user_mr = mock_reg_user_mr,
	.dereg_mr = mock_dereg_mr,
	INIT_RDMA_OBJ_SIZE(ib_pd, mock_pd, pd),
	INIT_RDMA_OBJ_SIZE(ib_ah, mock_ah, ah),
	INIT_RDMA_OBJ_SIZE(ib_cq, mock_cq, cq),
	INIT_RDMA_OBJ_SIZE(ib_qp, mock_qp, qp),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, mock_uctx, uctx),
};
/* having this op is what lets an open uverbs fd outlive the device */
static const struct ib_device_ops mock_disassociate_ops = {
	.disassociate_ucontext = mock_disassociate,
};
static const struct ib_device_ops mock_mad_ops = { .process_mad = mock_process_mad };
static const struct ib_device_ops mock_roce_ops = {
	.add_gid = mock_gid_noop, .del_gid = mock_gid_noop,
};
static const struct ib_device_ops mock_iw_ops = {
	.iw_add_ref = mock_iw_ref, .iw_rem_ref = mock_iw_ref,
	.iw_get_qp = mock_iw_get_qp, .iw_connect = mock_iw_connect,
	.iw_accept = mock_iw_connect, .iw_reject = mock_iw_reject,
	.iw_create_listen = mock_iw_listen, .iw_destroy_listen = mock_iw_unlisten,
};

/* ---- making and removing ------------------------------------------------ */

static u64 port_guid(const struct mock_cfg *c, u64 node_guid, u32 port)
{
	if (!c->pguids)
		return node_guid + port;
	if (port <= c->pguids)
		return c->pguid[port - 1];
	return c->pguid[c->pguids - 1] + port - c->pguids;
}

static ssize_t sfnum_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct mock_aux *a = container_of(dev, struct mock_aux, adev.dev);

	return sysfs_emit(buf, "%u\n", a->sfnum);
}
static DEVICE_ATTR_RO(sfnum);

static struct attribute *mock_sf_attrs[] = { &dev_attr_sfnum.attr, NULL };
ATTRIBUTE_GROUPS(mock_sf);

static void mock_aux_release(struct device *dev)
{
	kfree(container_of(dev, struct mock_aux, adev.dev));
}

static struct mock_aux *mock_aux_make(const struct mock_cfg *c, struct device *parent)
{
	static atomic_t ids;
	struct mock_aux *a = kzalloc(sizeof(*a), GFP_KERNEL);
	int ret;

	if (!a)
		return ERR_PTR(-ENOMEM);
	a->sfnum = c->sfnum;
	a->adev.name = c->has_sfnum ? "sf" : "rdma";
	a->adev.id = atomic_inc_return(&ids);
	a->adev.dev.parent = parent;
	a->adev.dev.release = mock_aux_release;
	if (c->has_sfnum)
		a->adev.dev.groups = mock_sf_groups;
	ret = auxiliary_device_init(&a->adev);
	if (ret) {
		kfree(a);
		return ERR_PTR(ret);
	}
	ret = auxiliary_device_add(&a->adev);
	if (ret) {
		auxiliary_device_uninit(&a->adev);
		return ERR_PTR(ret);
	}
	return a;
}

static void mock_aux_unmake(struct mock_aux *a)
{
	auxiliary_device_delete(&a->adev);
	auxiliary_device_uninit(&a->adev);
}

/* a network device that drops all: what the Ethernet side of an adapter registers */
static netdev_tx_t mock_eth_xmit(struct sk_buff *skb, struct net_device *nd)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops mock_eth_ops = {
	.ndo_start_xmit = mock_eth_xmit,
	.ndo_set_mac_address = eth_mac_addr,
};

static struct net_device *mock_eth_make(struct device *parent, u32 port)
{
	struct net_device *nd = alloc_etherdev(0);
	int ret;

	if (!nd)
		return ERR_PTR(-ENOMEM);
	SET_NETDEV_DEV(nd, parent);
	nd->dev_port = port - 1;
	nd->netdev_ops = &mock_eth_ops;
	/* up or down; the core's GID table follows (netdevice_event(), roce_gid_mgmt.c) */
	nd->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	eth_hw_addr_random(nd);
	ret = register_netdev(nd);
	if (ret) {
		free_netdev(nd);
		return ERR_PTR(ret);
	}
	return nd;
}

/* all but the registration; m is gone afterwards */
static void mock_free(struct mock_dev *m)
{
	struct platform_device *plat = m->plat;
	struct pci_dev *parent = m->parent;
	struct mock_aux *aux = m->aux;
	struct mock_port *port = m->port;
	struct net_device *eth[MOCK_MAX_LIST];
	u32 i;

	memcpy(eth, m->eth, sizeof(eth));
	ib_dealloc_device(&m->ib);	/* drops its references to network devices */
	kfree(port);
	for (i = 0; i < MOCK_MAX_LIST; i++)
		if (eth[i]) {
			unregister_netdev(eth[i]);
			free_netdev(eth[i]);
		}
	if (plat)
		platform_device_unregister(plat);
	if (aux)
		mock_aux_unmake(aux);
	if (parent)
		pci_dev_put(parent);
}

/* the network device of a port, with a reference */
static struct net_device *mock_netdev(struct mock_dev *m, const char *name, u32 port)
{
	struct net_device *nd;

	if (strcmp(name, "new"))
		return dev_get_by_name(&init_net, name) ?: ERR_PTR(-ENODEV);
	if (port > MOCK_MAX_LIST || !m->ib.dev.parent)
		return ERR_PTR(-EINVAL);
	nd = mock_eth_make(m->ib.dev.parent, port);
	if (IS_ERR(nd))
		return nd;
	m->eth[port - 1] = nd;
	dev_hold(nd);
	return nd;
}

static struct mock_dev *mock_make(const struct mock_cfg *c, struct pci_dev *pdev)
{
	int id = atomic_inc_return(&next_id) - 1, ret;
	u64 guid = c->guid ?: 0x00c0ffee00000000ULL + ((u64)id << 8);
	bool mads = false, gid_table = false, iwarp = false;
	struct mock_dev *m;
	u32 i;

	m = ib_alloc_device(mock_dev, ib);
	if (!m)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&m->node);
	m->nports = c->ports ?: c->protos;
	m->guid = cpu_to_be64(guid);
	m->port = kcalloc(m->nports + 1, sizeof(*m->port), GFP_KERNEL);
	ret = -ENOMEM;
	if (!m->port)
		goto err;
	for (i = 1; i <= m->nports; i++) {
		struct mock_port *p = &m->port[i];

		p->proto = c->proto[min(i, c->protos) - 1];
		mads |= has_mads(p->proto);
		gid_table |= has_gid_table(p->proto);
		iwarp |= p->proto == P_IWARP;
		p->state = c->state;
		p->phys = c->state == IB_PORT_DOWN ? IB_PORT_PHYS_STATE_POLLING :
						     IB_PORT_PHYS_STATE_LINK_UP;
		if (c->state == IB_PORT_ACTIVE) {
			p->lid = (id * m->nports + i) & 0xbfff;
			p->sm_lid = 1;
		}
		p->caps = IB_PORT_CM_SUP;
		p->guid = cpu_to_be64(port_guid(c, guid, i));
		p->prefix = cpu_to_be64(0xfe80000000000000ULL);
	}

	m->ib.node_type = iwarp && !mads && !gid_table ? RDMA_NODE_RNIC : RDMA_NODE_IB_CA;
	m->ib.node_guid = m->guid;
	m->ib.phys_port_cnt = m->nports;
	m->ib.num_comp_vectors = 1;
	m->ib.local_dma_lkey = 0;
	snprintf(m->ib.node_desc, sizeof(m->ib.node_desc), DRV " %d", id);
	ib_set_device_ops(&m->ib, &mock_ops);
	m->ib.ops.driver_id = c->driver;
	if (c->driver == MOCK_ANY_DRIVER)
		m->ib.ops.driver_id = c->netdev[0] ? RDMA_DRIVER_UNKNOWN : RDMA_DRIVER_RXE;
	if (c->disassociate)
		ib_set_device_ops(&m->ib, &mock_disassociate_ops);
	if (mads)
		ib_set_device_ops(&m->ib, &mock_mad_ops);
	if (gid_table)
		ib_set_device_ops(&m->ib, &mock_roce_ops);
	if (iwarp)
		ib_set_device_ops(&m->ib, &mock_iw_ops);

	if (pdev) {
		m->pdev = pdev;
		m->ib.dev.parent = &pdev->dev;
	} else if (!strcmp(c->parent, "platform") || (!c->parent[0] && mads)) {
		/* IPoIB takes it for granted that a device has a parent */
		m->plat = platform_device_register_simple(DRV, id, NULL, 0);
		if (IS_ERR(m->plat)) {
			ret = PTR_ERR(m->plat);
			m->plat = NULL;
			goto err;
		}
		m->ib.dev.parent = &m->plat->dev;
	} else if (c->parent[0]) {
		unsigned int dom, bus, slot, fn;

		ret = -EINVAL;
		if (sscanf(c->parent, "%x:%x:%x.%x", &dom, &bus, &slot, &fn) != 4)
			goto err;
		ret = -ENODEV;
		m->parent = pci_get_domain_bus_and_slot(dom, bus, PCI_DEVFN(slot, fn));
		if (!m->parent)
			goto err;
		m->ib.dev.parent = &m->parent->dev;
		if (c->aux) {
			m->aux = mock_aux_make(c, &m->parent->dev);
			if (IS_ERR(m->aux)) {
				ret = PTR_ERR(m->aux);
				m->aux = NULL;
				goto err;
			}
			m->ib.dev.parent = &m->aux->adev.dev;
		}
	}
	if (c->netdev[0]) {
		char names[sizeof(c->netdev)], *rest = names, *one;
		struct net_device *nd;

		strscpy(names, c->netdev, sizeof(names));
		for (i = 1; i <= m->nports && (one = strsep(&rest, ":")); i++) {
			if (!*one)
				continue;
			nd = mock_netdev(m, one, i);
			ret = PTR_ERR_OR_ZERO(nd);
			if (ret)
				goto err;
			ret = ib_device_set_netdev(&m->ib, nd, i);
			if (i == 1)
				strscpy(m->ib.iw_ifname, nd->name, sizeof(m->ib.iw_ifname));
			dev_put(nd);	/* the core has its own reference */
			if (ret)
				goto err;
		}
	}

	if (c->delay)
		msleep(c->delay);
	ret = ib_register_device(&m->ib, c->name[0] ? c->name : "mock%d", NULL);
	if (ret)
		goto err;
	strscpy(m->tag, dev_name(&m->ib.dev), sizeof(m->tag));
	mutex_lock(&lock);
	list_add_tail(&m->node, &devs);
	mutex_unlock(&lock);
	return m;
err:
	mock_free(m);
	return ERR_PTR(ret);
}

/* m has been taken off the list; all users of it are gone once it is unregistered */
static void mock_unmake(struct mock_dev *m)
{
	ib_unregister_device(&m->ib);
	mock_free(m);
}

/* call with the lock held; matches the current or the first name */
static struct mock_dev *mock_find(const char *name)
{
	struct mock_dev *m;

	list_for_each_entry(m, &devs, node)
		if (!strcmp(dev_name(&m->ib.dev), name))
			return m;
	list_for_each_entry(m, &devs, node)
		if (!strcmp(m->tag, name))
			return m;
	return NULL;
}

/* ---- commands ------------------------------------------------------------ */

static int parse_state(const char *s)
{
	static const char * const st[] = { "nop", "down", "init", "armed", "active" };
	int i = match_string(st, ARRAY_SIZE(st), s);

	return i;
}

/* "ib" or "ib:roce:..." */
static int parse_protos(struct mock_cfg *c, char *list)
{
	char *one;
	int r;

	for (c->protos = 0; (one = strsep(&list, ":")); c->protos++) {
		if (c->protos == MOCK_MAX_LIST)
			return -E2BIG;
		r = match_string(proto_names, ARRAY_SIZE(proto_names), one);
		if (r < 0)
			return r;
		c->proto[c->protos] = r;
	}
	return 0;
}

/* "0002c9..." or "0002c9...:0:..." */
static int parse_pguids(struct mock_cfg *c, char *list)
{
	char *one;

	for (c->pguids = 0; (one = strsep(&list, ":")); c->pguids++) {
		if (c->pguids == MOCK_MAX_LIST)
			return -E2BIG;
		if (kstrtou64(one, 16, &c->pguid[c->pguids]))
			return -EINVAL;
	}
	return 0;
}

static int parse_cfg(struct mock_cfg *c, char *args)
{
	char *tok;
	int r;

	while ((tok = strsep(&args, " \t\n,"))) {
		char *v = strchr(tok, '=');

		if (!*tok)
			continue;
		if (!v)
			return -EINVAL;
		*v++ = 0;
		if (!strcmp(tok, "name")) {
			if (strscpy(c->name, v, sizeof(c->name)) < 0)
				return -EINVAL;
		} else if (!strcmp(tok, "netdev")) {
			if (strscpy(c->netdev, v, sizeof(c->netdev)) < 0)
				return -EINVAL;
		} else if (!strcmp(tok, "sf")) {
			c->aux = true;
			c->has_sfnum = strcmp(v, "none");
			if (c->has_sfnum && kstrtou32(v, 0, &c->sfnum))
				return -EINVAL;
		} else if (!strcmp(tok, "parent")) {
			if (strscpy(c->parent, v, sizeof(c->parent)) < 0)
				return -EINVAL;
		} else if (!strcmp(tok, "proto")) {
			r = parse_protos(c, v);
			if (r < 0)
				return r;
		} else if (!strcmp(tok, "ports")) {
			if (kstrtou32(v, 0, &c->ports) || !c->ports ||
			    c->ports > MOCK_MAX_PORTS)
				return -EINVAL;
		} else if (!strcmp(tok, "count")) {
			if (kstrtou32(v, 0, &c->count))
				return -EINVAL;
		} else if (!strcmp(tok, "guid")) {
			if (kstrtou64(v, 16, &c->guid))
				return -EINVAL;
		} else if (!strcmp(tok, "pguid")) {
			r = parse_pguids(c, v);
			if (r < 0)
				return r;
		} else if (!strcmp(tok, "disassociate")) {
			if (kstrtou32(v, 0, &c->disassociate))
				return -EINVAL;
		} else if (!strcmp(tok, "driver")) {
			if (kstrtou32(v, 0, &c->driver))
				return -EINVAL;
		} else if (!strcmp(tok, "delay")) {
			if (kstrtou32(v, 0, &c->delay))
				return -EINVAL;
		} else if (!strcmp(tok, "state")) {
			r = parse_state(v);
			if (r < 0)
				return r;
			c->state = r;
		} else {
			return -EINVAL;
		}
	}
	return 0;
}

static int init_cfg(struct mock_cfg *c)
{
	char *d = kstrdup(defaults, GFP_KERNEL);
	int ret;

	if (!d)
		return -ENOMEM;
	memset(c, 0, sizeof(*c));
	c->proto[0] = P_IB;
	c->protos = 1;
	c->count = 1;
	c->disassociate = 1;
	c->state = IB_PORT_ACTIVE;
	c->driver = MOCK_ANY_DRIVER;
	ret = parse_cfg(c, d);
	kfree(d);
	return ret;
}

static int cmd_add(char *args)
{
	struct mock_cfg c;
	struct mock_dev *m;
	u32 i, k;
	int ret = init_cfg(&c);

	if (!ret)
		ret = parse_cfg(&c, args);
	if (ret)
		return ret;
	for (i = 0; i < c.count; i++) {
		m = mock_make(&c, NULL);
		if (IS_ERR(m))
			return PTR_ERR(m);
		if (c.guid)
			c.guid += 0x100;
		for (k = 0; k < c.pguids; k++)
			if (c.pguid[k])
				c.pguid[k] += 0x100;
	}
	return 0;
}

static int cmd_del(char *args)
{
	char *name = strsep(&args, " \t\n");
	bool all = !strcmp(name, "all");
	int hit = 0;

	for (;;) {
		struct mock_dev *m = NULL, *i;

		mutex_lock(&lock);
		if (all) {
			list_for_each_entry_reverse(i, &devs, node)
				if (!i->pdev) {
					m = i;
					break;
				}
		} else {
			m = mock_find(name);
			if (m && m->pdev) {	/* unbind the driver instead */
				mutex_unlock(&lock);
				return -EBUSY;
			}
		}
		if (m)
			list_del_init(&m->node);
		mutex_unlock(&lock);
		if (!m)
			break;
		mock_unmake(m);
		hit++;
		if (!all)
			break;
	}
	return hit || all ? 0 : -ENODEV;
}

static const struct { const char *name; int ev; } events[] = {
	{ "fatal", IB_EVENT_DEVICE_FATAL }, { "port_active", IB_EVENT_PORT_ACTIVE },
	{ "port_err", IB_EVENT_PORT_ERR }, { "lid_change", IB_EVENT_LID_CHANGE },
	{ "pkey_change", IB_EVENT_PKEY_CHANGE }, { "sm_change", IB_EVENT_SM_CHANGE },
	{ "client_reregister", IB_EVENT_CLIENT_REREGISTER },
	{ "gid_change", IB_EVENT_GID_CHANGE },
};

static void fire(struct mock_dev *m, u32 port, int ev)
{
	struct ib_event e = { .device = &m->ib, .element.port_num = port, .event = ev };

	ib_dispatch_event(&e);
}

/* event NAME TYPE [PORT] */
static int cmd_event(char *args)
{
	char *name = strsep(&args, " \t\n"), *ty = strsep(&args, " \t\n");
	char *po = strsep(&args, " \t\n");
	struct mock_dev *m;
	u32 port = 1;
	int i, ev = -1;

	if (!name || !ty || (po && *po && kstrtou32(po, 0, &port)))
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(events); i++)
		if (!strcmp(events[i].name, ty))
			ev = events[i].ev;
	if (ev < 0)
		return -EINVAL;
	mutex_lock(&lock);
	m = mock_find(name);
	if (m)
		fire(m, port, ev);
	mutex_unlock(&lock);
	return m ? 0 : -ENODEV;
}

/* port NAME PORT [state=..] [lid=..] [smlid=..] [caps=..] [guid=..] [prefix=..] */
static int cmd_port(char *args)
{
	char *name = strsep(&args, " \t\n"), *po = strsep(&args, " \t\n"), *tok;
	struct mock_port *p;
	struct mock_dev *m;
	int ret = 0;
	u32 port;

	if (!name || !po || kstrtou32(po, 0, &port))
		return -EINVAL;
	mutex_lock(&lock);
	m = mock_find(name);
	if (!m || !port || port > m->nports) {
		mutex_unlock(&lock);
		return m ? -EINVAL : -ENODEV;
	}
	p = &m->port[port];
	while (!ret && (tok = strsep(&args, " \t\n,"))) {
		char *v = strchr(tok, '=');
		u64 x = 0;

		if (!*tok)
			continue;
		ret = -EINVAL;
		if (!v)
			break;
		*v++ = 0;
		if (!strcmp(tok, "state")) {
			int s = parse_state(v);
			u8 old = p->state;

			if (s < 0)
				break;
			p->state = s;
			p->phys = s == IB_PORT_DOWN ? IB_PORT_PHYS_STATE_POLLING :
						      IB_PORT_PHYS_STATE_LINK_UP;
			if (s == IB_PORT_ACTIVE && old != s)
				fire(m, port, IB_EVENT_PORT_ACTIVE);
			else if (old == IB_PORT_ACTIVE && old != s)
				fire(m, port, IB_EVENT_PORT_ERR);
			ret = 0;
			continue;
		}
		if (kstrtou64(v, tok[0] == 'g' || tok[0] == 'p' ? 16 : 0, &x))
			break;
		ret = 0;
		if (!strcmp(tok, "lid")) {
			p->lid = x;
			fire(m, port, IB_EVENT_LID_CHANGE);
		} else if (!strcmp(tok, "smlid")) {
			p->sm_lid = x;
			fire(m, port, IB_EVENT_SM_CHANGE);
		} else if (!strcmp(tok, "caps")) {
			p->caps = x;
		} else if (!strcmp(tok, "guid")) {
			p->guid = cpu_to_be64(x);
			fire(m, port, IB_EVENT_GID_CHANGE);
		} else if (!strcmp(tok, "prefix")) {
			p->prefix = cpu_to_be64(x);
			fire(m, port, IB_EVENT_GID_CHANGE);
		} else {
			ret = -EINVAL;
		}
	}
	mutex_unlock(&lock);
	return ret;
}

/* pci BDF|* options...: what the next PCI probe of that function makes */
static int cmd_pci(char *args)
{
	char *bdf = strsep(&args, " \t\n");
	struct mock_cfg *c, *o;
	int ret;

	if (!bdf || !args)
		return -EINVAL;
	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (!c)
		return -ENOMEM;
	ret = init_cfg(c) ?: parse_cfg(c, args);
	if (!ret && strscpy(c->bdf, bdf, sizeof(c->bdf)) < 0)
		ret = -EINVAL;
	if (ret) {
		kfree(c);
		return ret;
	}
	mutex_lock(&lock);
	list_for_each_entry(o, &presets, node)
		if (!strcmp(o->bdf, bdf)) {
			list_del(&o->node);
			kfree(o);
			break;
		}
	list_add_tail(&c->node, &presets);
	mutex_unlock(&lock);
	return 0;
}

static int cmd_fail(char *args);

static ssize_t mock_write(struct file *f, const char __user *u, size_t len, loff_t *off)
{
	char *buf, *p, *cmd;
	int ret;

	if (len > 4096)
		return -E2BIG;
	buf = memdup_user_nul(u, len);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	p = strim(buf);
	cmd = strsep(&p, " \t\n");
	if (!p)
		ret = -EINVAL;
	else if (!strcmp(cmd, "add"))
		ret = cmd_add(p);
	else if (!strcmp(cmd, "del"))
		ret = cmd_del(p);
	else if (!strcmp(cmd, "event"))
		ret = cmd_event(p);
	else if (!strcmp(cmd, "port"))
		ret = cmd_port(p);
	else if (!strcmp(cmd, "pci"))
		ret = cmd_pci(p);
	else if (!strcmp(cmd, "fail"))
		ret = cmd_fail(p);
	else
		ret = -EINVAL;
	kfree(buf);
	return ret ?: len;
}

/* one line for each device: first name, name, protocols, ports, GUID, parent */
static ssize_t mock_read(struct file *f, char __user *u, size_t len, loff_t *off)
{
	size_t size = 1 << 18, used = 0;
	char *buf = kvmalloc(size, GFP_KERNEL);
	struct mock_dev *m;
	ssize_t ret;
	u32 i;

	if (!buf)
		return -ENOMEM;
	mutex_lock(&lock);
	list_for_each_entry(m, &devs, node) {
		used += scnprintf(buf + used, size - used, "%s %s ", m->tag, dev_name(&m->ib.dev));
		for (i = 1; i <= m->nports; i++)
			used += scnprintf(buf + used, size - used, "%s%s", i > 1 ? ":" : "",
					  proto_names[m->port[i].proto]);
		used += scnprintf(buf + used, size - used, " %u %016llx %s\n", m->nports,
				  be64_to_cpu(m->guid),
				  m->ib.dev.parent ? dev_name(m->ib.dev.parent) : "-");
	}
	mutex_unlock(&lock);
	ret = simple_read_from_buffer(u, len, off, buf, used);
	kvfree(buf);
	return ret;
}

static const struct file_operations mock_fops = {
	.owner = THIS_MODULE, .read = mock_read, .write = mock_write,
};
static struct miscdevice mock_misc = {
	.minor = MISC_DYNAMIC_MINOR, .name = DRV, .fops = &mock_fops,
};

/* ---- PCI ------------------------------------------------------------------ */

/* a function that is bound: what it makes now, and after a reload */
struct mock_card {
	struct pci_dev	*pdev;
	struct mock_cfg	cfg;
	struct mock_dev	*m;		/* or NULL: a reload failed */
	struct devlink_health_reporter *reporter;
	bool	fails;			/* the next time that it is to make one */
};

static int card_up(struct mock_card *card)
{
	struct mock_dev *m;

	if (card->fails) {
		card->fails = false;
		return -EIO;
	}
	m = mock_make(&card->cfg, card->pdev);
	if (IS_ERR(m))
		return PTR_ERR(m);
	card->m = m;
	return 0;
}

static void card_down(struct mock_card *card)
{
	if (!card->m)
		return;
	mutex_lock(&lock);
	list_del_init(&card->m->node);
	mutex_unlock(&lock);
	mock_unmake(card->m);
	card->m = NULL;
}

static int mock_reload_down(struct devlink *devlink, bool netns_change, enum devlink_reload_action action,
			    enum devlink_reload_limit limit, struct netlink_ext_ack *extack)
{
	card_down(devlink_priv(devlink));
	return 0;
}

static int mock_reload_up(struct devlink *devlink, enum devlink_reload_action action,
			  enum devlink_reload_limit limit, u32 *actions_performed, struct netlink_ext_ack *extack)
{
	*actions_performed = BIT(DEVLINK_RELOAD_ACTION_DRIVER_REINIT);
	return card_up(devlink_priv(devlink));
}

static const struct devlink_ops mock_devlink_ops = {
	.reload_actions = BIT(DEVLINK_RELOAD_ACTION_DRIVER_REINIT),
	.reload_down = mock_reload_down,
	.reload_up = mock_reload_up,
};

static int mock_recover(struct devlink_health_reporter *reporter, void *priv_ctx, struct netlink_ext_ack *extack)
{
	struct mock_card *card = devlink_health_reporter_priv(reporter);

	card_down(card);
	return card_up(card);
}

/* of the whole function, as is that of mlx5 with this name */
static const struct devlink_health_reporter_ops mock_reporter_ops = {
	.name = "fw_fatal",
	.recover = mock_recover,
};

static struct devlink_health_reporter *make_reporter(struct devlink *devlink)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
	return devlink_health_reporter_create(devlink, &mock_reporter_ops, devlink_priv(devlink));
#else
	return devlink_health_reporter_create(devlink, &mock_reporter_ops, 0, devlink_priv(devlink));
#endif
}

static struct pci_driver mock_pci;

/* fail BDF [reload] */
static int cmd_fail(char *args)
{
	unsigned int dom, bus, slot, fn;
	struct pci_dev *pdev;
	int ret = -ENODEV;

	if (sscanf(args, "%x:%x:%x.%x", &dom, &bus, &slot, &fn) != 4)
		return -EINVAL;
	pdev = pci_get_domain_bus_and_slot(dom, bus, PCI_DEVFN(slot, fn));
	if (!pdev)
		return ret;
	device_lock(&pdev->dev);
	if (pci_dev_driver(pdev) == &mock_pci && pci_get_drvdata(pdev)) {
		struct mock_card *card = pci_get_drvdata(pdev);

		if (strstr(args, " reload")) {
			card->fails = true;
			ret = 0;
		} else {
			ret = devlink_health_report(card->reporter, "a test says so", NULL);
		}
	}
	device_unlock(&pdev->dev);
	pci_dev_put(pdev);
	return ret;
}

static int mock_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct mock_cfg *o, *any = NULL, *hit = NULL;
	struct devlink *devlink;
	struct mock_card *card;
	int ret;

	devlink = devlink_alloc(&mock_devlink_ops, sizeof(*card), &pdev->dev);
	if (!devlink)
		return -ENOMEM;
	card = devlink_priv(devlink);
	card->pdev = pdev;
	ret = init_cfg(&card->cfg);
	if (ret)
		goto err_free;
	mutex_lock(&lock);
	list_for_each_entry(o, &presets, node) {
		if (!strcmp(o->bdf, pci_name(pdev)))
			hit = o;
		else if (!strcmp(o->bdf, "*"))
			any = o;
	}
	if (hit ?: any)
		card->cfg = *(hit ?: any);
	mutex_unlock(&lock);

	ret = pci_enable_device(pdev);
	if (ret)
		goto err_free;
	card->reporter = make_reporter(devlink);
	if (IS_ERR(card->reporter)) {
		ret = PTR_ERR(card->reporter);
		goto err_disable;
	}
	ret = card_up(card);
	if (ret)
		goto err_reporter;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
	devlink_set_features(devlink, DEVLINK_F_RELOAD);
#endif
	devlink_register(devlink);
	pci_set_drvdata(pdev, card);
	return 0;
err_reporter:
	devlink_health_reporter_destroy(card->reporter);
err_disable:
	pci_disable_device(pdev);
err_free:
	devlink_free(devlink);
	return ret;
}

static void mock_remove(struct pci_dev *pdev)
{
	struct mock_card *card = pci_get_drvdata(pdev);
	struct devlink *devlink = priv_to_devlink(card);

	pci_set_drvdata(pdev, NULL);
	devlink_unregister(devlink);
	card_down(card);
	devlink_health_reporter_destroy(card->reporter);
	pci_disable_device(pdev);
	devlink_free(devlink);
}

static const struct pci_device_id mock_ids[] = {
	{ PCI_DEVICE(0x1234, 0x11e8) },	/* QEMU edu */
	{ }
};
MODULE_DEVICE_TABLE(pci, mock_ids);

static struct pci_driver mock_pci = {
	.name = DRV,
	.id_table = mock_ids,
	.probe = mock_probe,
	.remove = mock_remove,
	.sriov_configure = pci_sriov_configure_simple,
};

static void drop_all(void)
{
	struct mock_dev *m;
	struct mock_cfg *c, *t;
	char all[] = "all";

	cmd_del(all);
	WARN_ON(!list_empty(&devs));
	m = NULL;
	list_for_each_entry_safe(c, t, &presets, node)
		kfree(c);
}

static int __init mock_init(void)
{
	int ret, i;

	ret = misc_register(&mock_misc);
	if (ret)
		return ret;
	mock_pci.name = pci_driver_name;
	ret = pci_register_driver(&mock_pci);
	if (ret)
		goto err_misc;
	for (i = 0; i < n; i++) {
		char none[] = "";

		ret = cmd_add(none);
		if (ret)
			goto err_pci;
	}
	return 0;
err_pci:
	pci_unregister_driver(&mock_pci);
	drop_all();
err_misc:
	misc_deregister(&mock_misc);
	return ret;
}

static void __exit mock_exit(void)
{
	misc_deregister(&mock_misc);
	pci_unregister_driver(&mock_pci);
	drop_all();
}

module_init(mock_init);
module_exit(mock_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("RDMA devices that move no data, for tests");
MODULE_VERSION("0.1");
