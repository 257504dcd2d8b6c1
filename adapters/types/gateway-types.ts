import type { Gateway } from '../../src/index.ts'

/** The part of a gateway that adapters based on exchanges need. */
export interface ExchangeGateway extends Pick<Gateway, 'basePath' | 'matches' | 'exchange' | 'notFound'> {
  /** Whether all of the gateway's requests run as one account. */
  readonly isForAccount?: boolean
}

/** The part of a gateway that adapters based on Fetch requests need. */
export interface FetchGateway {
  fetch(request: Request, ...platform: unknown[]): Promise<Response>
}
