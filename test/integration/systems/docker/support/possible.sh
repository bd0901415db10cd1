# What an agent needs every day, and must continue to work under all the restrictions.
set -eu
cd /workspace
git init -q repository && cd repository
git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first
cd .. && python3 -c 'print("python works")'
node -e 'new (require("worker_threads").Worker)("require(\"fs\").writeFileSync(\"thread\", \"x\")", { eval: true })'
test -f thread
printf '#!/bin/sh\necho "program in tmp works"\n' > /tmp/program && chmod +x /tmp/program && /tmp/program
mkdir -p "$HOME/.local/bin" && cp /tmp/program "$HOME/.local/bin/mine" && mine
python3 -c 'import socket
a = socket.socketpair(); s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
c = socket.create_connection(s.getsockname()); print("loopback works")
u = socket.socket(socket.AF_UNIX); u.bind("/tmp/unix"); print("unix sockets work")'
test "$(id -u)" = 10001 && test "$HOME" = /home/agent && test -w "$CLAUDE_CONFIG_DIR"
curl -s --max-time 5 -o /dev/null -w 'proxy answers %{http_connect}\n' https://example.com || true
rg -q first repository/.git/logs && jq -n 1 > /dev/null
echo all done
