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
