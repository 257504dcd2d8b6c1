import type { IncomingMessage, ServerResponse } from 'node:http'

const waiting = new WeakMap<IncomingMessage, ServerResponse>()

/** Notes a client that sends its body only when told to (`Expect: 100-continue`). */
export const awaitContinue = (req: IncomingMessage, res: ServerResponse): void => void waiting.set(req, res)

/** Tells a client that waits for it to send its body. */
export function sendContinue(req: IncomingMessage): void {
  waiting.get(req)?.writeContinue()
  waiting.delete(req)
}
