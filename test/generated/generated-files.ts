import { readFileSync } from 'node:fs'
import { PAGES, readSitePages } from '../../docs/pages.mjs'
import { updateRegions } from '../../docs/references.ts'
import { generateKnownNames, KNOWN_NAMES } from './known-names.ts'
import { generateOperationData } from './operation-data.ts'
import { generateResultTypes, RESULT_TYPES } from './result-types.ts'

export const root = new URL('../../', import.meta.url)

/** Returns the files that are generated entirely or in part, by path from the root, with the contents they should have. */
export async function generateFiles(): Promise<Map<string, string>> {
  const files = new Map([
    ...generateOperationData(),
    [RESULT_TYPES, await generateResultTypes()],
    [KNOWN_NAMES, generateKnownNames()],
  ])
  for (const { name } of readSitePages()) {
    const path = PAGES + name
    const text = readFileSync(new URL(path, root), 'utf8')
    if (text.includes('<!-- generated: ')) files.set(path, await updateRegions(text))
  }
  return files
}

/** Removes the spaces and dashes that align a table's columns. */
export const ignoreAlignment = (text: string): string => text.replace(/ +\|/g, ' |').replace(/-{3,}/g, '---')
