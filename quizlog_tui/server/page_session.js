// Keeps the session of this tab, and sends it as the first message of the terminal's socket.
{
  const KEY = "quizlog-session";
  const given = location.hash.slice(1);
  if (given) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  window.WebSocket = class extends WebSocket {
    constructor(url) {
      super(url);
      this.addEventListener("open", () => this.send(sessionStorage.getItem(KEY) ?? ""));
      this.addEventListener("close", ({ reason }) => {
        if (reason) document.querySelector(".closed-dialog .message").textContent = reason;
      });
    }
  };
}
