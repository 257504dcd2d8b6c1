/*
 * Each chunk of the mock provider contains the time it was sent: a mark and a fixed number of digits, in µs of a clock that all processes on a
 * machine share. Translations don't change stamps, so clients can measure the lag of chunks in any format.
 */
export const STAMP_MARK = '~'
export const STAMP_LENGTH = 14

const MARK_CODE = STAMP_MARK.charCodeAt(0)

/** Finds stamps in a stream that arrives in pieces. */
export class StampScanner {
  #rest: Buffer | undefined = undefined

  /** Calls `onStamp` with the time of each stamp in the next piece. */
  scan(piece: Buffer, onStamp: (sentUs: number) => void): void {
    const data = this.#rest ? Buffer.concat([this.#rest, piece]) : piece
    this.#rest = undefined
    for (let at = data.indexOf(MARK_CODE); at >= 0; at = data.indexOf(MARK_CODE, at + 1)) {
      const end = at + 1 + STAMP_LENGTH
      if (end > data.length) {
        this.#rest = data.subarray(at)
        return
      }
      const sentUs = Number(data.toString('latin1', at + 1, end))
      if (sentUs > 0) onStamp(sentUs)
    }
  }
}
