import type { Gateway } from '../../src/index.ts'

/** The part of a gateway that an adapter with exchanges needs. */
export interface ExchangeGateway extends Pick<Gateway, 'basePath' | 'matches' | 'exchange' | 'elsewhere'> {
  /** Whether all its requests run as one account. */
  readonly isOfAccount?: boolean
}

/** The part of a gateway that an adapter with Fetch requests needs. */
export interface FetchGateway {
  fetch(request: Request, ...platform: unknown[]): Promise<Response>
}
