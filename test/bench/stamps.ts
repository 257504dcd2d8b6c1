/*
 * Each chunk from the mock provider is stamped with the time it was sent: a mark and a fixed number of digits, in µs on a clock that all processes on
 * the machine share. Translation doesn't change stamps, so clients can measure a chunk's lag in any format.
 */
export const STAMP_MARK = '~'
export const STAMP_LENGTH = 14

const MARK_CODE = STAMP_MARK.charCodeAt(0)

/** Finds stamps in a stream, even if they are split across reads. */
export class StampScanner {
  #rest: Buffer | undefined = undefined

  /** Calls `onStamp` with the time of each stamp that the next piece completes. */
  scan(piece: Buffer, onStamp: (sentUs: number) => void): void {
    const data = this.#rest ? Buffer.concat([this.#rest, piece]) : piece
    this.#rest = undefined
    for (let index = data.indexOf(MARK_CODE); index >= 0; index = data.indexOf(MARK_CODE, index + 1)) {
      const end = index + 1 + STAMP_LENGTH
      if (end > data.length) {
        this.#rest = data.subarray(index)
        return
      }
      const sentUs = Number(data.toString('latin1', index + 1, end))
      if (sentUs > 0) onStamp(sentUs)
    }
  }
}
