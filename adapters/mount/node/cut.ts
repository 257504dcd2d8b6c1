import type { ServerResponse } from 'node:http'

/** How long bytes already written may take to leave before the connection is cut regardless. */
const FLUSH_MS = 1_000

/** Ends a response that cannot be completed: what was written still leaves, then the connection breaks off. */
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
