import { readFileSync } from 'node:fs'
import { PAGES, readSitePages } from '../../docs/pages.mjs'
import { generateKnownNames, KNOWN_NAMES } from './known-names.ts'
import { generateOperationData } from './operation-data.ts'
import { generateResultTypes, RESULT_TYPES } from './result-types.ts'

export const root = new URL('../../', import.meta.url)

/** Returns the generated code, by path from the root. */
export async function generateCode(): Promise<Map<string, string>> {
  return new Map([
    ...generateOperationData(),
    [RESULT_TYPES, await generateResultTypes()],
    [KNOWN_NAMES, generateKnownNames()],
  ])
}

/** Returns the pages that contain generated tables, by path from the root. Their tables are made with the generated code, so write that first. */
export async function generatePages(): Promise<Map<string, string>> {
  const { updateRegions } = await import('../../docs/references.ts')
  const pages = new Map<string, string>()
  for (const { name } of readSitePages()) {
    const path = PAGES + name
    const text = readFileSync(new URL(path, root), 'utf8')
    if (text.includes('<!-- generated: ')) pages.set(path, await updateRegions(text))
  }
  return pages
}

/** Removes the spaces and dashes that align a table's columns. */
export const ignoreAlignment = (text: string): string => text.replace(/ +\|/g, ' |').replace(/-{3,}/g, '---')
