// US states by code and name.

/** US states and the District of Columbia: code and name. */
const STATES = `AL Alabama,AK Alaska,AZ Arizona,AR Arkansas,CA California,CO Colorado,CT Connecticut,DE Delaware,
DC District of Columbia,FL Florida,GA Georgia,HI Hawaii,ID Idaho,IL Illinois,IN Indiana,IA Iowa,
KS Kansas,KY Kentucky,LA Louisiana,ME Maine,MD Maryland,MA Massachusetts,MI Michigan,MN Minnesota,
MS Mississippi,MO Missouri,MT Montana,NE Nebraska,NV Nevada,NH New Hampshire,NJ New Jersey,
NM New Mexico,NY New York,NC North Carolina,ND North Dakota,OH Ohio,OK Oklahoma,OR Oregon,
PA Pennsylvania,RI Rhode Island,SC South Carolina,SD South Dakota,TN Tennessee,TX Texas,UT Utah,
VT Vermont,VA Virginia,WA Washington,WV West Virginia,WI Wisconsin,WY Wyoming`

/** Codes of states by code and by lower-case name. */
const CODES = new Map(
  STATES.split(/,\n?/).flatMap((state): [string, string][] => {
    const code = state.slice(0, 2)
    return [
      [code, code],
      [state.slice(3).toLowerCase(), code],
    ]
  }),
)

/** Returns the code of a US state, from its code or name; undefined for other texts. */
export function findStateCode(text: string): string | undefined {
  return CODES.get(text) ?? CODES.get(text.trim().toLowerCase())
}
