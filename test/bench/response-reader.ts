interface ResponseListener {
  /** Receives each piece of the body, without chunked framing. */
  onBody(piece: Buffer): void
  /** `text` is the start of the body if the status isn't 200. */
  onEnd(status: number, text: string): void
}

type State = 'head' | 'fixed' | 'size' | 'chunk' | 'chunk-end' | 'trailer'

/** Parses the HTTP/1.1 responses on one connection, with bodies that have a `content-length` or are chunked. */
export class ResponseReader {
  readonly #listener: ResponseListener
  #state: State = 'head'
  #rest: Buffer | undefined = undefined
  #left = 0
  #status = 0
  #text = ''

  constructor(listener: ResponseListener) {
    this.#listener = listener
  }

  read(piece: Buffer): void {
    let data = this.#rest ? Buffer.concat([this.#rest, piece]) : piece
    this.#rest = undefined
    while (data.length > 0) {
      const used = this.#readNext(data)
      if (used === 0) {
        this.#rest = data
        return
      }
      data = data.subarray(used)
    }
  }

  /** Returns the number of bytes consumed, or 0 if more are needed. */
  #readNext(data: Buffer): number {
    if (this.#state === 'fixed' || this.#state === 'chunk') return this.#readBody(data)
    const mark = this.#state === 'head' ? '\r\n\r\n' : '\r\n'
    const end = data.indexOf(mark)
    if (end < 0) return 0
    const line = data.toString('latin1', 0, end)
    if (this.#state === 'head') this.#readHead(line.toLowerCase())
    else if (this.#state === 'size') {
      this.#left = Number.parseInt(line, 16)
      this.#state = this.#left > 0 ? 'chunk' : 'trailer'
    } else if (this.#state === 'chunk-end') this.#state = 'size'
    else if (line === '') this.#end()
    return end + mark.length
  }

  #readHead(head: string): void {
    this.#status = Number(head.slice(9, 12))
    this.#text = ''
    this.#left = Number(/\r\ncontent-length: *(\d+)/.exec(head)?.[1])
    if (this.#left === 0) this.#end()
    else this.#state = this.#left > 0 ? 'fixed' : 'size'
  }

  #readBody(data: Buffer): number {
    const piece = data.length > this.#left ? data.subarray(0, this.#left) : data
    this.#left -= piece.length
    if (this.#status === 200) this.#listener.onBody(piece)
    else this.#text += piece.toString('latin1')
    if (this.#left > 0) return piece.length
    if (this.#state === 'chunk') this.#state = 'chunk-end'
    else this.#end()
    return piece.length
  }

  #end(): void {
    this.#state = 'head'
    this.#listener.onEnd(this.#status, this.#text)
  }
}
