// Fetches the part of the page that changes by itself, once a second while somebody looks.
const everyMs = 1_000;
const live = document.getElementById("live");
const connection = document.getElementById("connection");
let shown = live.innerHTML;

async function refresh() {
  if (document.hidden) return;
  try {
    const response = await fetch("/live", { cache: "no-store", signal: AbortSignal.timeout(5_000) });
    if (!response.ok) throw new Error(`${response.status}`);
    const text = await response.text();
    if (text !== shown) live.innerHTML = shown = text;
    say("live", "live");
  } catch {
    say("lost", "no answer, trying again");
  }
}

function say(state, text) {
  connection.hidden = false;
  connection.className = `connection ${state}`;
  connection.textContent = text;
}

async function goOn() {
  await refresh();
  setTimeout(() => void goOn(), everyMs);
}

document.addEventListener("visibilitychange", () => void refresh());
void goOn();
