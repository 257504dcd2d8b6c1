import { type GatewayError, gatewayError, isGatewayError } from '../errors.ts'

/** A failing storage as an error with a name: never an empty store (security.md, rule 12). */
export function storageFailure(what: 'read' | 'write' | 'list', key: string, cause: unknown): GatewayError {
  if (isGatewayError(cause)) return cause
  return gatewayError('STORAGE_FAILED', {
    message: `The gateway cannot ${what} its storage.`,
    cause,
    data: { what, key },
  })
}
