/** The countries that Tavily knows, by ISO 3166-1 code. */
const CODES: ReadonlySet<string> = new Set(
  (
    'AF AL DZ AD AO AR AM AU AT AZ BS BH BD BB BY BE BZ BJ BT BO BA BW BR BN BG BF BI KH CM CA CV CF TD CL CN CO KM CG CR HR CU CY CZ DK DJ DO EC ' +
    'EG SV GQ ER EE ET FJ FI FR GA GM GE DE GH GR GT GN HT HN HU IS IN ID IR IQ IE IL IT JM JP JO KZ KE KW KG LV LB LS LR LY LI LT LU MG MW MY MV ' +
    'ML MT MR MU MX MD MC MN ME MA MZ MM NA NP NL NZ NI NE NG KP MK NO OM PK PA PG PY PE PH PL PT QA RO RU RW SA SN RS SG SK SI SO ZA KR SS ES LK ' +
    'SD SE CH SY TW TJ TZ TH TG TT TN TR TM UG UA AE GB US UY UZ VE VN YE ZM ZW'
  ).split(' '),
)

/** Tavily's names that differ from the ones in Unicode's CLDR, or that CLDR has changed. */
const OWN_NAMES: Readonly<Record<string, string>> = {
  BA: 'bosnia and herzegovina',
  CG: 'congo',
  CZ: 'czech republic',
  MM: 'myanmar',
  TT: 'trinidad and tobago',
  TR: 'turkey',
}

/** Returns Tavily's name for a country, by its ISO 3166-1 code. Returns `undefined` if it has none. */
export function getCountryName(code: string): string | undefined {
  if (!CODES.has(code)) return undefined
  return OWN_NAMES[code] ?? new Intl.DisplayNames('en', { type: 'region', fallback: 'none' }).of(code)?.toLowerCase()
}
