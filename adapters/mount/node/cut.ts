import type { ServerResponse } from 'node:http'

/** How long written bytes may take to be sent before the connection is closed. */
const FLUSH_MS = 1_000

/** Breaks off a response that cannot be completed: what was written is sent, then the connection is closed. */
export function cut(res: ServerResponse): void {
  const { socket } = res
  if (!socket) {
    res.destroy()
    return
  }
  // Before HTTP/1.1 the end of the connection is the end of the body: only a reset tells a cut from it.
  const canReset = res.req.httpVersion === '1.0' && !('encrypted' in socket)
  const kill = () => {
    clearTimeout(timer)
    if (socket.destroyed) return
    if (canReset) socket.resetAndDestroy()
    else socket.destroy()
  }
  const timer = setTimeout(kill, FLUSH_MS)
  socket.write('', kill)
}
