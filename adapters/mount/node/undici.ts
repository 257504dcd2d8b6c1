/// <reference path="./undici-parts.d.ts" />
import type * as undici from 'undici'

/** The parts of undici that a call needs. */
export type UndiciParts = Pick<typeof undici, 'Client' | 'buildConnector'>

/**
 * Loads them from files of their own, in a third of the time that all of undici takes, for which a cold start would wait. A version that has
 * them elsewhere is loaded whole.
 */
export const loadUndici = (): Promise<UndiciParts> => loadParts().catch(() => import('undici'))

async function loadParts(): Promise<UndiciParts> {
  const [{ default: Client }, { default: buildConnector }] = await Promise.all([
    import('undici/lib/dispatcher/client.js'),
    import('undici/lib/core/connect.js'),
  ])
  if (typeof Client !== 'function' || typeof buildConnector !== 'function') throw new TypeError('They are elsewhere.')
  return { Client, buildConnector }
}
