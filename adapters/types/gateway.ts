import type { Gateway } from '../../src/index.ts'

/** The members of a gateway that a mount with exchanges needs. */
export type ExchangeGateway = Pick<Gateway, 'basePath' | 'matches' | 'exchange' | 'elsewhere'>

/** The member of a gateway that a mount with Fetch requests needs. */
export interface FetchGateway {
  fetch(request: Request, ...platform: unknown[]): Promise<Response>
}
