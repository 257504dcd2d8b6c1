import { once } from '../lib/promises.ts'

type Estimates = typeof import('../pricing/estimates.ts')

/** How usage is estimated that providers do not report. It is loaded while the first provider is waited for, as what breaks off settles at once. */
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
