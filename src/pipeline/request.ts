import type { AskedRequest } from '../codec/codec.ts'
import type { Group } from '../routing/group.ts'
import type { RouteTable } from '../routing/route-table.ts'
import type { Client } from './client.ts'
import type { PipelineContext } from './context.ts'
import type { RequestLog } from './request-log.ts'

/** One model request that has been read. */
export interface ModelRequest extends AskedRequest {
  /** Under the rules for its model name. */
  readonly context: PipelineContext
  readonly table: RouteTable
  /** The models that it brings itself, in place of what its model name leads to. */
  readonly list?: Group
  readonly log: RequestLog
  readonly client: Client
}
