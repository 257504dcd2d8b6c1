import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ExchangeGateway } from '../types/gateway-types.ts'
import { checkGateway } from './lib/check-gateway.ts'
import { type NodeHandlerOptions, toNodeHandler } from './node/handler.ts'

export type { ExchangeGateway } from '../types/gateway-types.ts'

/** Options for `toExpressHandler`; the same as for `toNodeHandler`. */
export type ExpressHandlerOptions = NodeHandlerOptions

/** Middleware for Express 4 and 5, typed by the Node classes that both extend. */
export type ExpressHandler = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void

/**
 * Mounts a gateway in Express 4 or 5: `app.use('/ai', toExpressHandler(gateway))`. The gateway handles its own errors; requests for other paths go to
 * the next handler. Mount it before `express.json()`, which rounds integers above 2^53.
 */
export function toExpressHandler(gateway: ExchangeGateway, options?: ExpressHandlerOptions): ExpressHandler {
  checkGateway('toExpressHandler', gateway, 'exchange')
  return toNodeHandler(gateway, options)
}
