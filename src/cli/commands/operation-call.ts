import type { NamedOperation } from '../../admin/operation-table.ts'
import { buildRequest } from '../../client/client-request.ts'
import type { ActionCall } from './command.ts'

/** Calls an operation with the client's function, or by its route if the client doesn't have one. */
export function callOperation(
  { names, method, path, action }: NamedOperation,
  args: readonly unknown[],
  { api, send }: Pick<ActionCall, 'api' | 'send'>,
): Promise<object> {
  const operation = names.reduce<unknown>((inner, name) => Reflect.get(Object(inner), name), api)
  if (typeof operation === 'function') return operation(...args)
  return send(buildRequest([method, path, action].filter(Boolean).join(' '), args))
}
