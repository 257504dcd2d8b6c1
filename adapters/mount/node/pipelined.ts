import type { Socket } from 'node:net'

const waiting = new WeakMap<Socket, Set<() => void>>()

/**
 * Calls back when the socket closes; answers how to stop. For requests that wait behind another answer on one connection:
 * their own response hears nothing until its turn. One listener a socket, however many wait.
 */
export function onSocketClose(socket: Socket, listener: () => void): () => void {
  const listeners = waiting.get(socket) ?? watch(socket)
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

function watch(socket: Socket): Set<() => void> {
  const listeners = new Set<() => void>()
  waiting.set(socket, listeners)
  socket.once('close', () => {
    for (const listener of listeners) listener()
  })
  return listeners
}
