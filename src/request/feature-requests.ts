import { requireJson, requirePlainUtf8 } from '../lib/http-headers.ts'
import { decodeJsonText, type JsonObject, parseJsonObject } from '../lib/json.ts'
import { type BodyTiming, readTimedBody } from '../lib/timed-body.ts'
import { fromNanoUsd, toNanoUsd } from '../lib/usd.ts'
import { KeyRequest, RouteRequest } from './route-request.ts'

/** Body limits for feature routes. */
export interface RouteBodyLimits {
  maxBodyBytes: number
  timing: BodyTiming
}

/** A request to a feature's route. */
export class FeatureRequest extends RouteRequest {
  readonly params: Readonly<Record<string, string>>
  readonly #bodyLimits: RouteBodyLimits

  constructor(
    request: ConstructorParameters<typeof RouteRequest>[0],
    params: Readonly<Record<string, string>>,
    bodyLimits: RouteBodyLimits,
  ) {
    super(request)
    this.params = params
    this.#bodyLimits = bodyLimits
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.exchange.query)
  }

  bytes(): Promise<Uint8Array> {
    const { maxBodyBytes: maxBytes, timing } = this.#bodyLimits
    return readTimedBody(this.exchange, { maxBytes, timing, scope: this.log.client.scope })
  }

  async charge(usd: number): Promise<void> {
    if (!(usd >= 0 && usd < Number.POSITIVE_INFINITY))
      throw new TypeError(`A charge must be a non-negative amount in USD, got ${usd}.`)
    for (const reserve of this.log.beforeCharge) await reserve(usd)
    if (this.log.ending) throw new TypeError('The request has already ended, so it can no longer be charged.')
    this.log.chargedUsd = fromNanoUsd(toNanoUsd(this.log.chargedUsd ?? 0) + toNanoUsd(usd)) // exact sums
  }

  async json(): Promise<JsonObject> {
    requireJson(this.exchange)
    requirePlainUtf8(this.exchange)
    return parseJsonObject(decodeJsonText(await this.bytes()))
  }
}

/** A request to a feature's route that isn't recorded. */
export class UnrecordedRequest extends KeyRequest {
  readonly params: Readonly<Record<string, string>>

  constructor(request: ConstructorParameters<typeof KeyRequest>[0], params: Readonly<Record<string, string>>) {
    super(request)
    this.params = params
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.exchange.query)
  }
}
