/* Writes all generated files, and the tables on the reference pages: npm run generate */
import { readFileSync, writeFileSync } from 'node:fs'
import { generateCode, generatePages, ignoreAlignment, root } from './generated-files.ts'

for (const generate of [generateCode, generatePages])
  for (const [path, text] of await generate()) {
    const url = new URL(path, root)
    if (ignoreAlignment(readFileSync(url, 'utf8')) === ignoreAlignment(text)) continue
    writeFileSync(url, text)
    console.log(`Updated ${path}`)
  }
