import type { ByteStream, UpstreamAnswer } from './exchange.ts'

/** An answer with another body. */
export class AnswerWith implements UpstreamAnswer {
  readonly status: number
  readonly body: ByteStream
  readonly #answer: UpstreamAnswer

  constructor(answer: UpstreamAnswer, body: ByteStream) {
    this.status = answer.status
    this.body = body
    this.#answer = answer
  }

  header(name: string): string | undefined {
    return this.#answer.header(name)
  }

  headers(): Iterable<[string, string]> {
    return this.#answer.headers()
  }
}
