#!/usr/bin/env bash
# A Sluice worker in bash and curl: one task at a time.
#
#   SLUICE_URL=http://127.0.0.1:7420 bash examples/workers/worker.sh
#
# One curl holds the stream on which tasks arrive. The handler is a background job, so that this
# loop hears `cancel` and sends heartbeats meanwhile. A lease is kept, and listed at each resume,
# from its arrival until its final report is answered: so a broken connection loses nothing.
export LC_ALL=C # Bytes, not characters: what is not understood is passed on as it came.
url=${SLUICE_URL:-http://127.0.0.1:7420}
name=${WORKER_NAME:-worker.sh}
folder=$(mktemp -d) # A handler leaves its end here, whole or not at all.
# Other users see the words of a command, and nothing of this file.
echo "${SLUICE_API_KEY:+authorization: Bearer $SLUICE_API_KEY}" >"$folder/head"
session='' resumes=0 heartbeat_s=1 heard_at=0 lease='' task='' handler=''
slots=1 # 0 once it was told to stop.
trap 'kill $stream $handler 2>/dev/null; rm -rf "$folder"' EXIT
trap 'slots=0' TERM INT

say() { echo "worker.sh $*"; }

call() { # METHOD PATH BODY: prints the status of the answer, 000 when there was none.
  curl -s -o /dev/null -w '%{http_code}' -m 5 -X "$1" -H "@$folder/head" --data-binary @- "$url$2" <<<"$3"
}

report() { # One report, or none for a heartbeat. All of them renew the lease.
  local offer=''
  ((slots)) || offer=',"capacity":{"slots":0}' # Nothing new, please.
  call POST "/v1/worker-sessions/$session/reports" "{\"reports\":[$1]$offer}"
}

field() { # JSON NAME: prints the value of a field of an object, or of the first one in an array.
  local token previous='' value='' inside='' depth=0
  while IFS= read -r token; do
    case $token in '{' | '[') ((depth += 1)) ;; '}' | ']') ((depth -= 1)) ;; esac
    if [[ $inside ]]; then
      [[ $depth$token == 1, || $depth == 0 ]] && break
      value+=$token
    elif [[ $depth$token == 1: && $previous == "\"$2\"" ]]; then
      inside=yes
    fi
    previous=$token
  done < <(grep -aoE '"([^"\\]|\\.)*"|[][{},:]|[^][{},:"[:space:]]+' <<<"${1#\[}")
  echo "$value"
}

handle() { # TYPE INPUT: prints what the final report says, beside the lease.
  case $1 in
    '"echo"') echo "\"kind\":\"succeeded\",\"output\":$2" ;;
    '"fail"') echo "\"kind\":\"failed\",\"error\":{\"message\":$(field "$2" message)}" ;;
    '"sleep"')
      local ms=$(field "$2" ms) slept=0
      while kill -0 $$ && ((slept += 200, slept <= ms)); do # Not without the worker.
        sleep 0.2
        fraction=$((slept * 1000000 / ms))e-6 # There are only integers here.
        report "{\"lease\":$lease,\"kind\":\"progress\",\"fraction\":$fraction}" >&2
      done
      echo "\"kind\":\"succeeded\",\"output\":$ms" ;;
  esac
}

input() { # TASKS: prints the input of the first; one that is too large for the stream is fetched.
  local blob=$(field "$1" inputBlob)
  [[ $blob ]] || { field "$1" input && return; }
  curl -sf -m 60 -H "@$folder/head" "$url/v1/blobs/${blob//\"/}"
}

take() { # TASKS: with one slot there is one in it.
  lease=$(field "$1" lease) task=$(field "$1" id)
  # It was on its way when this worker was told to stop: refused, it costs no attempt.
  ((slots)) || { echo '"kind":"refused"' >"$folder/end" && return; }
  say "runs ${task//\"/}"
  report "{\"lease\":$lease,\"kind\":\"started\"}" >/dev/null
  (handle "$(field "$1" type)" "$(input "$1")" >"$folder/part" &&
    mv "$folder/part" "$folder/end") 2>/dev/null &
  handler=$!
}

cancel() { # An end that is there already counts. What is reported of a lost lease does no harm.
  [[ $handler ]] && kill "$handler" 2>/dev/null && wait "$handler" 2>/dev/null
  [[ -e $folder/end ]] || echo '"kind":"cancelled"' >"$folder/end"
}

hear() { # EVENT DATA
  case $1 in
    welcome)
      [[ $session ]] && say 'is back' || say "is ready at $url"
      session=$(field "$2" sessionId) session=${session//\"/}
      heartbeat_s=$(($(field "$2" heartbeatMs) / 1000))
      [[ $lease && $(field "$2" lost) == *"$lease"* ]] && cancel ;;
    tasks) take "$2" ;;
    cancel) [[ $(field "$2" lease) == "$lease" ]] && cancel ;;
  esac
}

tick() { # What is due: the end of the task, a heartbeat, the end of the worker.
  if [[ -e $folder/end ]]; then
    [[ $handler ]] && say "ended ${task//\"/}" && handler=''
    case $(report "{\"lease\":$lease,$(<"$folder/end")}") in
      200) rm "$folder/end" && lease='' ;;
      400 | 413) # Not to be taken as it is, ever; anything else is worth another try.
        echo '"kind":"failed","error":{"message":"refused"},"retryable":false' >"$folder/end" ;;
    esac
  elif [[ $lease ]] && ((SECONDS - heard_at >= heartbeat_s)); then
    heard_at=$SECONDS && report '' >/dev/null
  fi
  ((slots)) || [[ $lease ]] || { call DELETE "/v1/worker-sessions/$session" '' >/dev/null; exit; }
}

types='[{"type":"echo"},{"type":"fail"},{"type":"sleep"}]'
while :; do
  body="{\"name\":\"$name\",\"types\":$types,\"capacity\":{\"slots\":$slots}"
  [[ $session ]] && ((resumes += 1)) &&
    body+=",\"resume\":{\"sessionId\":\"$session\",\"running\":[$lease],\"number\":$resumes}"
  # The server says `ping` after 5 s of silence: after 15 s without a byte the stream is dead.
  exec 3< <(exec curl -sfN --speed-limit 1 --speed-time 15 -H "@$folder/head" -d "$body}" \
    "$url/v1/worker-sessions")
  stream=$! event='' line=''
  while :; do
    read -r -t 0.2 -u 3 part && status=0 || status=$?
    line+=$part # A read that ran out of time may have got half a line.
    ((status == 0)) || { tick; ((status > 128)) && continue || break; }
    [[ $line == 'event: '* ]] && event=${line#event: }
    [[ $line == 'data: '* ]] && hear "$event" "${line#data: }"
    line=''
  done
  sleep 0.5
done
