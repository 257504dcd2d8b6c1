import { serveNode } from '../../adapters/mount/node.ts'
import type { Gateway } from '../../src/gateway.ts'

/** Serves a gateway on a free port. `close` leaves no connection open. */
export async function serve(gateway: Gateway): Promise<{ origin: string; close(): Promise<void> }> {
  const { url, close } = await serveNode(gateway, { port: 0 })
  return { origin: url, close: () => close({ graceMs: 0 }) }
}
