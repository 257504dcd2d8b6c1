import type { Format } from '../formats/format.ts'
import type { Exchange } from '../lib/exchange.ts'
import type { ModelCall } from './call.ts'
import type { Client } from './client.ts'
import type { PipelineContext } from './context.ts'
import type { Report } from './report.ts'

/** One model request under way. */
export interface ModelRequest {
  exchange: Exchange
  call: ModelCall
  /** The client's. */
  format: Format
  /** The gateway's own until its model name is looked up; then under the rules for that name. */
  context: PipelineContext
  report: Report
  client: Client
  /** The id of the client's key; empty when it has none. */
  owner: string
}

/** The parts of a request that say what it asks for. */
export interface SpokenRequest extends Pick<ModelRequest, 'call' | 'format' | 'context' | 'owner'> {
  exchange: Pick<Exchange, 'header' | 'copyHeaders' | 'query'>
  /** Nobody waits when a request is only explained. */
  client?: Client
}
