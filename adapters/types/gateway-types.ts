import type { Gateway } from '../../src/index.ts'

/** The part of a gateway that exchange-based adapters need. */
export interface ExchangeGateway extends Pick<Gateway, 'basePath' | 'matches' | 'exchange' | 'notFound'> {
  /** Whether all of the gateway's requests run as one account. */
  readonly hasFixedAccount?: boolean
}

/** The part of a gateway that Fetch-based adapters need. */
export interface FetchGateway {
  fetch(request: Request, ...platform: unknown[]): Promise<Response>
}
