import type { Gateway } from '../../src/index.ts'

/** What a bridge that speaks the exchange needs of a gateway. */
export type ExchangeGateway = Pick<Gateway, 'basePath' | 'matches' | 'exchange' | 'elsewhere'>

/** What a bridge that hands over Fetch requests needs of a gateway. */
export interface FetchGateway {
  fetch(request: Request, ...platform: unknown[]): Promise<Response>
}
