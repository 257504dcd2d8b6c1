import type { Socket } from 'node:net'

/** Whether a socket's reader gets what has come. */
export interface Throttle {
  hold(): void
  release(): void
}

/**
 * Holds a socket's reader back: while held, `read()` finds nothing, and the socket fills its buffer and then stops its peer.
 * undici 7 pauses its parser instead, and a peer that closes while that is so ends the process (nodejs/undici#5360).
 */
export function throttle(socket: Socket): Throttle {
  const read = socket.read
  let isHeld = false
  socket.read = (size) => (isHeld ? null : read.call(socket, size))
  return {
    hold() {
      isHeld = true
    },
    release() {
      if (!isHeld) return
      isHeld = false
      socket.emit('readable')
    },
  }
}
