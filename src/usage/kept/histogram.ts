/** The median, and what 95 and 99 of a hundred do not exceed; in whole ms, each within 7.3 % of the exact one. */
export interface Percentiles {
  p50: number
  p95: number
  p99: number
}

const GROWTH = 1.15
const LOG_GROWTH = Math.log(GROWTH)
const LONGEST_MS = 60 * 60 * 1_000

const bucketOf = (ms: number) => (ms < 1 ? 0 : 1 + Math.floor(Math.log(Math.min(ms, LONGEST_MS)) / LOG_GROWTH))

/** The geometric mean of the ends of a bucket, in whole ms: no time in it is further away than 7.3 %, but for rounding. */
const timeOf = (bucket: number) => (bucket === 0 ? 0 : Math.round(GROWTH ** (bucket - 0.5)))

const BEFORE_A = 64
const Z = 90
/** `Z` passes over so many buckets. */
const FAR = 25
const ZERO = 48

/** Cache: what a histogram of one time is stored as, by bucket. */
const singles: string[] = []

/**
 * How many times are how long. The buckets are the same everywhere, so that histograms of hours and instances are added up: the first holds what is
 * below 1 ms, each next one ends 15 % later, and the last of the 110 holds what takes an hour or longer.
 *
 * It is stored as a text: a letter for each bucket with times, `A` for the one after the bucket before, `B` for the second one after it, and so
 * on to `Y`; `Z` passes over 25 buckets. The count follows unless it is 1: `ZPA3` has one time in the bucket 40, and three in the next. What is
 * read is mostly written again as it was, so that the text is kept until something is added.
 */
export class Histogram {
  /** Absent where `#counts` has more. */
  #text: string | undefined
  /** From the bucket `#first` on; absent until the text is read. */
  #counts: number[] | undefined = undefined
  #first = 0

  /** `text`: what another one is stored as; default: without times. */
  constructor(text = '') {
    this.#text = text
  }

  /** One time, in ms. */
  static of(ms: number): Histogram {
    const bucket = bucketOf(Math.round(ms))
    singles[bucket] ??= textOf(bucket)
    return new Histogram(singles[bucket])
  }

  /** What it is stored as. */
  get text(): string {
    if (this.#text !== undefined) return this.#text
    const counts = this.#counts ?? []
    let text = ''
    let passed = this.#first
    for (let nth = 0; nth < counts.length; nth++) {
      const count = counts[nth] ?? 0
      if (count === 0) passed++
      else {
        text += textOf(passed)
        if (count > 1) text += count
        passed = 0
      }
    }
    this.#text = text
    return text
  }

  /** Adds all times of another one. */
  merge(other: Histogram): void {
    if (this.#text === '') {
      this.#text = other.text
      this.#counts = undefined
      return
    }
    this.#read()
    this.#addText(other.text)
    this.#text = undefined
  }

  /** All 0 where there are no times. */
  percentiles(): Percentiles {
    const counts = this.#read()
    const total = counts.reduce((sum, count) => sum + count, 0)
    const at = (share: number) => {
      let seen = 0
      for (const [nth, count] of counts.entries()) {
        seen += count
        if (seen >= total * share) return timeOf(this.#first + nth)
      }
      return 0
    }
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
  }

  #read(): number[] {
    if (!this.#counts) {
      this.#counts = []
      this.#addText(this.#text ?? '')
    }
    return this.#counts
  }

  #addText(text: string): void {
    let bucket = -1
    for (let at = 0; at < text.length; ) {
      const letter = text.charCodeAt(at++)
      if (letter === Z) {
        bucket += FAR
        continue
      }
      bucket += letter - BEFORE_A
      let count = 0
      for (; at < text.length && text.charCodeAt(at) < BEFORE_A; at++) count = count * 10 + text.charCodeAt(at) - ZERO
      this.#add(bucket, count || 1)
    }
  }

  #add(bucket: number, count: number): void {
    const counts = this.#counts ?? []
    if (counts.length === 0) this.#first = bucket
    for (; bucket < this.#first; this.#first--) counts.unshift(0)
    const nth = bucket - this.#first
    while (counts.length <= nth) counts.push(0)
    counts[nth] = (counts[nth] ?? 0) + count
  }
}

/** The bucket after as many others. */
const textOf = (passed: number): string =>
  passed < FAR ? String.fromCharCode(BEFORE_A + 1 + passed) : `Z${textOf(passed - FAR)}`
