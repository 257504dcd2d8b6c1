import { once } from '../lib/promises.ts'

type Estimates = typeof import('../usage/estimates.ts')

/** How usage is estimated that providers do not report. It is loaded while the first provider is waited for, as what breaks off settles at once. */
export class LateEstimates {
  readonly #load = once(() => import('../usage/estimates.ts'))
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
