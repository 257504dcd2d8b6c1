import { existsSync } from 'node:fs'
import type * as Dashboard from '../../src/features/dashboard/dashboard.ts'
import { skip } from '../support/suite.ts'

/** Imports the built package entry, because the page's files exist only in the build. */
export async function builtDashboard(): Promise<typeof Dashboard> {
  const entry = new URL('../../dist/dashboard.js', import.meta.url)
  if (!existsSync(entry)) skip('there is no build: npm run build')
  return import(entry.href)
}
