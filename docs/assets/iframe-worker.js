// Browsers start no Worker for a page that was opened from a folder (file://). The search needs one, so there it runs in a hidden frame.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.documentElement.append(this.frame)
      const inside = this.frame.contentWindow
      inside.postMessage = data => this.tell(data)
      const script = inside.document.createElement("script")
      script.src = url
      script.onload = () => this.begin()
      inside.document.body.append(script)
    }
    tell(data) {
      const event = new MessageEvent("message", { data })
      this.dispatchEvent(event)
      this.onmessage?.(event)
    }
    begin() {
      this.postMessage = data => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }))
      this.waiting.forEach(this.postMessage)
    }
    postMessage(data) { this.waiting.push(data) }
    terminate() { this.frame.remove() }
  }
