import type { Integer } from '../../types/plain-types.ts'
/** The 50th, 95th, and 99th percentiles in whole ms, each within 7.3% of the exact value. */
export interface Percentiles {
  p50: Integer
  p95: Integer
  p99: Integer
}

const BUCKET_GROWTH = 1.15
const LOG_GROWTH = Math.log(BUCKET_GROWTH)
const MAX_MS = 60 * 60 * 1_000

const getBucket = (ms: number) => (ms < 1 ? 0 : 1 + Math.floor(Math.log(Math.min(ms, MAX_MS)) / LOG_GROWTH))

/** Returns the geometric mean of a bucket's bounds in whole ms. Before rounding, it is within 7.3% of every time in the bucket. */
const getBucketTime = (bucket: number) => (bucket === 0 ? 0 : Math.round(BUCKET_GROWTH ** (bucket - 0.5)))

const CODE_BEFORE_A = 64
const CODE_OF_Z = 90
const SKIP_BASE = 25
const ZERO_BASE = 48

/** Caches the encoded histograms that contain a single time, by bucket. */
const singles: string[] = []

/**
 * A histogram of durations. All histograms have the same buckets, so histograms of different hours and instances can be merged. There are 110
 * buckets. The first ends at 1 ms, and each bound is 15% higher than the previous one. The last bucket contains all times of an hour or more. The
 * encoded string has one letter per nonempty bucket. `A` is the bucket right after the previous one, `B` the second one after it, and so on up to
 * `Y`; `Z` skips 25 buckets. A count other than 1 follows the letter: `ZPA3` has one time in bucket 40 and three in the next. Most histograms are
 * written back unchanged, so a histogram keeps its string until the first addition.
 */
export class Histogram {
  /** `undefined` once times have been added to `#counts`. */
  #text: string | undefined
  /** Counts by bucket, starting with bucket `#first`. `undefined` until the string is decoded. */
  #counts: number[] | undefined = undefined
  #firstBucket = 0

  /** `text` is an encoded histogram. Default: empty. */
  constructor(text = '') {
    this.#text = text
  }

  /** Creates a histogram that contains a single duration, in ms. */
  static fromTime(ms: number): Histogram {
    const bucket = getBucket(Math.round(ms))
    singles[bucket] ??= encodePosition(bucket)
    return new Histogram(singles[bucket])
  }

  /** The encoded string. */
  get text(): string {
    if (this.#text !== undefined) return this.#text
    const counts = this.#counts ?? []
    let text = ''
    let skippedBuckets = this.#firstBucket
    for (let index = 0; index < counts.length; index++) {
      const count = counts[index] ?? 0
      if (count === 0) skippedBuckets++
      else {
        text += encodePosition(skippedBuckets)
        if (count > 1) text += count
        skippedBuckets = 0
      }
    }
    this.#text = text
    return text
  }

  /** Adds all times from another histogram. */
  merge(other: Histogram): void {
    if (this.#text === '') {
      this.#text = other.text
      this.#counts = undefined
      return
    }
    this.#decode()
    this.#addText(other.text)
    this.#text = undefined
  }

  /** Computes the percentiles; all are 0 if the histogram is empty. */
  getPercentiles(): Percentiles {
    const counts = this.#decode()
    const total = counts.reduce((sum, count) => sum + count, 0)
    const getPercentile = (fraction: number) => {
      let cumulativeCount = 0
      for (const [index, count] of counts.entries()) {
        cumulativeCount += count
        if (cumulativeCount >= total * fraction) return getBucketTime(this.#firstBucket + index)
      }
      return 0
    }
    return { p50: getPercentile(0.5), p95: getPercentile(0.95), p99: getPercentile(0.99) }
  }

  #decode(): number[] {
    if (!this.#counts) {
      this.#counts = []
      this.#addText(this.#text ?? '')
    }
    return this.#counts
  }

  #addText(text: string): void {
    let bucket = -1
    for (let index = 0; index < text.length; ) {
      const code = text.charCodeAt(index++)
      if (code === CODE_OF_Z) {
        bucket += SKIP_BASE
        continue
      }
      bucket += code - CODE_BEFORE_A
      let count = 0
      for (; index < text.length && text.charCodeAt(index) < CODE_BEFORE_A; index++)
        count = count * 10 + text.charCodeAt(index) - ZERO_BASE
      this.#add(bucket, count || 1)
    }
  }

  #add(bucket: number, count: number): void {
    const counts = this.#counts ?? []
    if (counts.length === 0) this.#firstBucket = bucket
    for (; bucket < this.#firstBucket; this.#firstBucket--) counts.unshift(0)
    const index = bucket - this.#firstBucket
    while (counts.length <= index) counts.push(0)
    counts[index] = (counts[index] ?? 0) + count
  }
}

/** Encodes a bucket's position: the number of empty buckets before it. */
const encodePosition = (skippedBuckets: number): string =>
  skippedBuckets < SKIP_BASE
    ? String.fromCharCode(CODE_BEFORE_A + 1 + skippedBuckets)
    : `Z${encodePosition(skippedBuckets - SKIP_BASE)}`
