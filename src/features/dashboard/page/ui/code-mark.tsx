import type { ComponentChildren } from 'preact'
import { sanitize } from '../page-format.ts'
import type { Column } from './table.tsx'

const IN_CODE = 'Defined in code'
const CHANGE_OPTIONS = 'Change the gateway’s options instead.'

/** Returns whether a record is defined in code, so it can't be changed here. */
export const isInCode = ({ source }: Pick<NamedRecord, 'source'>): boolean => source === 'code'

/** Shows a record's name, with a mark if the record is defined in code. */
export const RecordName = ({ of, id, inCode }: { of: string; id?: string; inCode: boolean }) => (
  <span title={id}>
    {sanitize(of)}{' '}
    {inCode && (
      <span class="badge" title={CHANGE_OPTIONS}>
        {IN_CODE}
      </span>
    )}
  </span>
)

interface NamedRecord {
  id: string
  name: string
  source?: 'code'
}

/** A column with the names of records. */
export const nameColumn: Column<NamedRecord> = {
  name: 'Name',
  by: ({ name }) => name,
  cell: (record) => <RecordName of={record.name} id={record.id} inCode={isInCode(record)} />,
}

/** Renders a setting's fields. They are read-only if the setting is defined in code. */
export const Setting = ({ inCode, children }: { inCode: boolean; children: ComponentChildren }) =>
  inCode ? (
    <fieldset disabled title={CHANGE_OPTIONS}>
      <legend>{IN_CODE}</legend>
      {children}
    </fieldset>
  ) : (
    children
  )
