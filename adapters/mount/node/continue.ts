import type { IncomingMessage, ServerResponse } from 'node:http'

const waiting = new WeakMap<IncomingMessage, ServerResponse>()

/** Remembers that a client waits for `100 Continue` before it sends its body. */
export const awaitContinue = (req: IncomingMessage, res: ServerResponse): void => void waiting.set(req, res)

/** Sends `100 Continue` to a client that waits for it. */
export function sendContinue(req: IncomingMessage): void {
  waiting.get(req)?.writeContinue()
  waiting.delete(req)
}
