# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion of rdmactl(1). It needs nothing of the bash-completion package but to be loaded by it; only with that are words
# completed that have a ":" or "@", as units have.

# Devices and GUIDs that rdmad knows; port GUIDs of udev's links where it does not run.
_rdmactl_devices() {
    rdmactl list --no-legend 2>/dev/null | awk '{ print $1; if ($6 != "-") print $6 }'
    _rdmactl_nodes
    (cd /dev/infiniband/by-port-guid 2>/dev/null && printf '%s\n' *)
}

# A column of "rdmactl list": 1 device, 2 port, 4 link type, 6 port GUID, 7 network device, 8 driver, 9 path
_rdmactl_column() {
    rdmactl list --no-legend 2>/dev/null | awk -v column="$1" '$column != "-" { print $column }'
}

# Node GUIDs: only the JSON has them
_rdmactl_nodes() {
    rdmactl list --json 2>/dev/null | grep -o '"nodeGuid":"[0-9a-f]*' | sed 's/.*"//'
}

_rdmactl_bound_units() {
    rdmactl bindings --no-legend 2>/dev/null | awk '$2 != "-" { gsub(",", "\n", $2); print $2 }'
}

# Of a template what comes before the instance
_rdmactl_units() {
    systemctl list-unit-files --no-legend --no-pager --type=service,target,socket,mount,path,timer,slice 2>/dev/null |
        awk '{ sub(/@\..*/, "@", $1); print $1 }'
}

# What may stand behind an option, nothing if nobody can tell; false: it takes no value
_rdmactl_values() {
    case $1 in
    --port-guid) _rdmactl_column 6 ;;
    --node-guid) _rdmactl_nodes ;;
    --link-type) echo infiniband opa roce iwarp usnic efa unknown ;;
    --driver) _rdmactl_column 8 ;;
    --device) _rdmactl_column 1 ;;
    --path) _rdmactl_column 9 ;;
    --netdev) _rdmactl_column 7 ;;
    --port) _rdmactl_column 2 ;;
    --node) echo uverbs umad issm ;;
    --require) echo all any ;;
    --wait-for) echo present active ready ;;
    --restart) echo return no ;;
    --on-replaced) echo start wait ;;
    --on-blocked) echo report stop ;;
    --stage) echo targets initiators applications ;;
    --mode) echo block delay ;;
    --for) echo active ready present absent ;;
    --timeout | --who | --why) ;;
    *) return 1 ;;
    esac
}

_rdmactl_options() {
    echo --help --json --socket
    case $1 in '' | bind | unbind | verify) echo --root ;; esac
    case $1 in
    '') echo --version ;;
    list | bindings) echo --no-legend ;;
    bind) echo --port-guid= --node-guid= --link-type= --driver= --device= --path= --netdev= --port= --node= --require= \
        --wait-for= --restart= --on-replaced= --on-blocked= --stage= --runtime ;;
    unbind) echo --all ;;
    monitor) echo --poll-ports ;;
    wait) echo --for= --timeout= ;;
    recover) echo --dry-run ;;
    prepare) echo --ignore-inhibitors --remove ;;
    inhibit) echo --device= --mode= --who= --why= ;;
    esac
}

_rdmactl_words() {
    case $1 in
    '') echo list status bindings bind unbind monitor wait release accept prepare resume inhibit recover reload verify ;;
    status)
        _rdmactl_devices
        _rdmactl_bound_units
        ;;
    wait | release | accept | prepare | resume) _rdmactl_devices ;;
    bind) _rdmactl_units ;;
    unbind) _rdmactl_bound_units ;;
    esac
}

# Takes off what readline keeps: it replaces but what stands behind the last of its word breaks.
_rdmactl_trim() {
    local i kept=0
    for ((i = 0; i < ${#1}; i++)); do
        [[ ${1:i:1} == [:@] && $COMP_WORDBREAKS == *"${1:i:1}"* ]] && kept=$((i + 1))
    done
    for i in "${!COMPREPLY[@]}"; do
        COMPREPLY[i]=${COMPREPLY[i]:kept}
    done
}

# Prints where in $words the command of "rdmactl inhibit" begins; $1: where the verb is. The word to be completed may be its first.
# Fails if that word is an option, or the value of one.
_rdmactl_command() {
    local i
    for ((i = $1 + 1; i <= cword; i++)); do
        case ${words[i]} in
        --) ((i < cword)) && echo $((i + 1)) && return ;;
        --device | --mode | --who | --why | --socket | --root)
            i=$((i + 1))
            [[ ${words[i]} != '=' ]] || i=$((i + 1))
            ;;
        -*) ;;
        *) echo $i && return ;;
        esac
    done
    return 1
}

_rdmactl() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb='' candidate i start
    local words=("${COMP_WORDS[@]}") cword=$COMP_CWORD
    # ":" and "@" are words of their own, too, unless bash-completion puts them together
    if declare -F _get_comp_words_by_ref >/dev/null; then
        _get_comp_words_by_ref -n ':@' -c word -p before -w words -i cword
    fi
    # "=" is a word of its own here
    [[ $word == '=' ]] && word=''
    [[ $before == '=' ]] && before=${words[cword - 2]}
    for ((i = 1; i < cword; i++)); do
        case ${words[i]} in
        --socket | --root) i=$((i + 1)) && [[ ${words[i]} == '=' ]] && i=$((i + 1)) ;;
        -*) ;;
        *) verb=${words[i]} && break ;;
        esac
    done
    COMPREPLY=()
    if [[ $before == --socket || $before == --root ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
    fi
    if [[ $verb == inhibit ]] && start=$(_rdmactl_command $i); then
        local kind=-f
        [[ $start -ne $cword ]] || kind=-c
        mapfile -t COMPREPLY < <(compgen $kind -- "$word")
        return
    fi
    local candidates
    if ! candidates=$(_rdmactl_values "$before"); then
        if [[ $word == -* ]]; then
            candidates=$(_rdmactl_options "$verb")
        elif [[ $verb == verify ]]; then
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            return
        else
            candidates=$(_rdmactl_words "$verb")
        fi
    fi
    # compgen -W would expand what a name holds
    for candidate in $(tr -c '[:alnum:]@%:._\\=-' '\n' <<<"$candidates" | sort -u); do
        [[ $candidate == "$word"* ]] && COMPREPLY+=("$candidate")
    done
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=@] ]] && compopt -o nospace 2>/dev/null
    _rdmactl_trim "$word"
    return 0
}

complete -F _rdmactl rdmactl
