import { type GatewayError, gatewayError, isGatewayError } from '../errors.ts'

/** The error for a failing storage, which never counts as an empty one (security.md, rule 12). */
export function storageFailure(what: 'read' | 'write' | 'list', key: string, cause: unknown): GatewayError {
  if (isGatewayError(cause)) return cause
  return gatewayError('STORAGE_FAILED', {
    message: `The gateway cannot ${what} its storage.`,
    cause,
    data: { what, key },
  })
}
