import { type GatewayError, gatewayError } from '../errors.ts'
import type { Exchange } from '../lib/exchange.ts'
import type { ClientKey } from '../records/key-lookup.ts'
import type { Caller } from './caller.ts'
import type { RequestRecord, ServedBy } from './hook-records.ts'
import type { RequestLog, ServedRoute } from './request-log.ts'

/** The parts of a request to a route. */
export type RouteRequestParts = Pick<RouteRequest, 'exchange' | 'route' | 'caller' | 'log'>

/** A request to an authenticated route, whose caller is known and whose body hasn't been read. */
export class RouteRequest {
  readonly exchange: Exchange
  readonly route: ServedRoute
  readonly caller: Caller
  readonly log: RequestLog

  constructor({ exchange, route, caller, log }: RouteRequestParts) {
    this.exchange = exchange
    this.route = route
    this.caller = caller
    this.log = log
  }

  get key(): ClientKey | undefined {
    return this.caller.key
  }

  get id(): string {
    return this.log.id
  }

  get method(): string {
    return this.exchange.method
  }

  get path(): string {
    return this.exchange.path
  }

  get signal(): AbortSignal {
    return this.log.client.signal
  }

  get servedBy(): ServedBy {
    return this.log.servedBy
  }

  set servedBy(by: ServedBy) {
    this.log.servedBy = by
  }

  header(name: string): string | undefined {
    return this.exchange.header(name)
  }

  onEnd(listener: (record: RequestRecord) => void): void {
    this.log.onEnd(listener)
  }

  waitUntil(work: Promise<unknown>): void {
    this.log.wait(work)
  }

  reject(message: string, { status = 403 }: { status?: number } = {}): never {
    throw createRejection(message, status)
  }
}

/** The error by which a step rejects a request or a target. */
export const createRejection = (message: string, status: number): GatewayError =>
  gatewayError(status === 400 ? 'INVALID_REQUEST' : status === 429 ? 'RATE_LIMIT_EXCEEDED' : 'FORBIDDEN', {
    status,
    message,
  })
