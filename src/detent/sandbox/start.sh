# The first program in a container. Reads the limits back, sets the variables, runs the program, and writes down how it ended.
# Nothing is run unless every limit holds. What is said goes to /.detent/status: "limit …", "missing …", "started", "ended …".
say() { echo "$*" >> /.detent/status; }
groups=/sys/fs/cgroup

# The first file of these that is there; its first word is $value, its second $more.
look() {
    value= more=
    for file; do
        if [ -r "$file" ]; then
            read -r value more < "$file"
            return
        fi
    done
}

# The number after a word in the first file that has it.
count() {
    word=$1 number=0
    shift
    for file; do
        [ -r "$file" ] || continue
        while read -r name value; do
            if [ "$name" = "$word" ]; then number=$value; fi
        done < "$file"
    done
}

holds() {
    if ! [ "$2" -gt 0 ] 2>/dev/null || ! [ "$2" -le "$3" ] 2>/dev/null; then
        say "limit $1 ${2:-none} $3"
        exit 1
    fi
}

. /.detent/limits
look $groups/memory.max $groups/memory/memory.limit_in_bytes
holds memory "$value" "$memory"
look $groups/pids.max $groups/pids/pids.max
holds processes "$value" "$processes"
look $groups/cpu.max $groups/cpu/cpu.cfs_quota_us $groups/cpu,cpuacct/cpu.cfs_quota_us
quota=$value period=$more
if [ -z "$period" ]; then
    look $groups/cpu/cpu.cfs_period_us $groups/cpu,cpuacct/cpu.cfs_period_us
    period=$value
fi
holds processors "$quota" "$((cpus * period))"

. /.detent/env
found=2
case $1 in
*/*) places=/ name=$1 ;;
*) places=$PATH name=$1 ;;
esac
rest=$places:
while [ -n "$rest" ]; do
    place=${rest%%:*} rest=${rest#*:}
    case $1 in
    */*) file=$1 ;;
    *) file=${place:-.}/$name ;;
    esac
    if [ -f "$file" ] && [ -x "$file" ]; then
        found=0
        break
    elif [ -e "$file" ]; then
        found=13
    fi
done
if [ $found != 0 ]; then
    say "missing $found"
    exit 1
fi
unset value more file name rest place places period quota found memory processes cpus number word
say started
exec 3>&2 2>/dev/null
case $errors in
output) (exec /usr/bin/env -- "$@" < /.detent/input 2>&1 3>&-) ;;
nowhere) (exec /usr/bin/env -- "$@" < /.detent/input 2>/dev/null 3>&-) ;;
*) (exec /usr/bin/env -- "$@" < /.detent/input 2>&3 3>&-) ;;
esac
code=$?
count oom_kill $groups/memory.events $groups/memory/memory.oom_control
ooms=$number
count max $groups/pids.events $groups/pids/pids.events
say "ended $code $ooms $number"
exit $code
