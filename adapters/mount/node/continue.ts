import type { IncomingMessage, ServerResponse } from 'node:http'

const pendingResponses = new WeakMap<IncomingMessage, ServerResponse>()

/** Records that a client is waiting for `100 Continue` before it sends its body. */
export const awaitContinue = (req: IncomingMessage, res: ServerResponse): void => void pendingResponses.set(req, res)

/** Sends `100 Continue` to a client that is waiting for it. */
export function sendContinue(req: IncomingMessage): void {
  pendingResponses.get(req)?.writeContinue()
  pendingResponses.delete(req)
}
