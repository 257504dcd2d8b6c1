import type { Gateway } from '../../src/index.ts'

/** The part of a gateway that an adapter with exchanges needs. */
export type ExchangeGateway = Pick<Gateway, 'basePath' | 'matches' | 'exchange' | 'elsewhere'>

/** The part of a gateway that an adapter with Fetch requests needs. */
export interface FetchGateway {
  fetch(request: Request, ...platform: unknown[]): Promise<Response>
}
