import type { Exchange, Reply } from '../lib/exchange.ts'
import type { PresentedKey } from '../store/keyring.ts'

/** The methods that routes are served by; `HEAD` is answered as `GET` without its body, and where there is no `GET` as `OPTIONS`. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

/** One line of a route table. `path` is a pattern below the base path: `/api/keys/:id`, `/v1/models/:id+` (rest of the path). */
export interface Route {
  method: Method
  path: string
  run(request: RoutedRequest): Promise<Reply>
}

/** What a route gets. */
export interface RoutedRequest {
  exchange: Exchange
  /** Percent-decoded. */
  params: Readonly<Record<string, string>>
  /** The client key that the request carried, under `/v1`. */
  key?: PresentedKey | undefined
}
