import { once } from '../lib/promises.ts'
import type { TokenUsage } from '../protocols/formats/format.ts'
import type { ModelCall } from './codec/model-call.ts'
import type { RouteTarget } from './routing/group.ts'

type Estimates = typeof import('../pricing/estimates.ts')

/**
 * Estimates usage that providers don't report. The code is loaded while waiting for the first stream, because a stream that is cut off settles
 * immediately.
 */
export class LateEstimates {
  readonly #load = once(() => import('../pricing/estimates.ts'))
  #loaded: Estimates | undefined = undefined

  /** Returns `undefined` until the code is loaded. */
  get loaded(): Estimates | undefined {
    return this.#loaded
  }

  async load(): Promise<Estimates> {
    this.#loaded ??= await this.#load()
    return this.#loaded
  }

  /** Estimates a request's input tokens immediately. Until the code is loaded, the estimate is based on the body size. */
  estimateInput(call: ModelCall, target: RouteTarget): number {
    if (this.#loaded) return this.#loaded.estimateInput(call, target)
    this.load().catch(() => {}) // if loading fails, the next request tries again
    return Math.ceil(call.bytes / BYTES_PER_TOKEN)
  }

  /** Counts units other than tokens. Requests of kinds that have such units load the code before they call a provider. */
  countUnits(call: ModelCall): TokenUsage['units'] {
    return this.#loaded?.countUnits(call)
  }
}

/** Bytes per token. Lower than for most text, so that estimates aren't too low. */
const BYTES_PER_TOKEN = 3
