import { type IRequest, Router } from 'itty-router'
import { gatewayError } from '../errors.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import type { PresentedKey } from '../store/keyring.ts'
import type { Method, Route } from './route.ts'

type Handler = (request: IRequest, exchange: Exchange, key?: PresentedKey) => Promise<Reply>

/** The routes by their patterns, and the methods that each pattern has. */
export function patternsOf(routes: readonly Route[]) {
  const router = Router<IRequest, [Exchange, PresentedKey?], Promise<Reply> | undefined>()
  const methodsByPath = new Map<string, Set<Method>>()
  for (const { method, path, run } of routes) {
    const handler: Handler = (request, exchange, key) => run({ exchange, params: decodeParams(request.params), key })
    router[lowerCase[method]](path, handler)
    methodsByPath.set(path, (methodsByPath.get(path) ?? new Set()).add(method))
  }
  const allowed = Router<IRequest, [], Set<Method>>()
  for (const [path, methods] of methodsByPath) allowed.all(path, () => methods)
  return { router, allowed }
}

const lowerCase = {
  GET: 'get',
  POST: 'post',
  PUT: 'put',
  PATCH: 'patch',
  DELETE: 'delete',
  OPTIONS: 'options',
} as const

function decodeParams(params: Record<string, string>): Record<string, string> {
  try {
    return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]))
  } catch {
    throw gatewayError('INVALID_REQUEST', { message: 'The path is not properly percent-encoded.' })
  }
}
