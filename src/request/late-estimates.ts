import { once } from '../lib/promises.ts'

type Estimates = typeof import('../pricing/estimates.ts')

/** Estimates usage that providers don't report. It is loaded while waiting for the first provider, because a stream that breaks off settles immediately. */
export class LateEstimates {
  readonly #load = once(() => import('../pricing/estimates.ts'))
  #loaded: Estimates | undefined = undefined

  /** `undefined` until it is loaded. */
  get loaded(): Estimates | undefined {
    return this.#loaded
  }

  async load(): Promise<Estimates> {
    this.#loaded ??= await this.#load()
    return this.#loaded
  }
}
