/* Checks the built-in catalog: `node src/cli/catalog/check.ts`. Prints one line for each malformed entry. Exits with 1 if there are any. */

import { validateCatalog } from '../../features/catalog/validate-catalog.ts'
import { defaultCatalog } from '../../protocols/providers/catalog.ts'

const problems = validateCatalog(defaultCatalog)
for (const problem of problems) console.error(`catalog: ${problem}`)
if (problems.length > 0) process.exitCode = 1
