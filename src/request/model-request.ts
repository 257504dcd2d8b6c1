import type { StoredSettings } from '../records/stored-settings.ts'
import type { CodecRequest } from './codec/codec.ts'
import type { PipelineContext } from './context.ts'
import type { ModelLog } from './model-log.ts'
import type { Client } from './request-client.ts'
import type { Group } from './routing/group.ts'
import type { RouteTable } from './routing/route-table.ts'

/** A model request that has been read. */
export interface ModelRequest extends CodecRequest {
  /** The context with the rules for its model name applied. */
  readonly context: PipelineContext
  /** The context without these rules, and the settings that some of the rules come from. */
  readonly unruled: PipelineContext
  readonly settings: StoredSettings
  readonly table: RouteTable
  /** The models listed in the request, if any. They replace the models that its model name resolves to. */
  readonly list?: Group
  readonly log: ModelLog
  readonly client: Client
}
