import { existsSync } from 'node:fs'
import type * as Dashboard from '../../src/dashboard/dashboard.ts'
import { skip } from '../support/suite.ts'

/** The entry of the package: the files of the page exist in the build alone. */
export async function builtDashboard(): Promise<typeof Dashboard> {
  const entry = new URL('../../dist/dashboard.js', import.meta.url)
  if (!existsSync(entry)) skip('there is no build: npm run build')
  return import(entry.href)
}
