// Files as people and programs write them, with their expected tables.
import { describe, expect, it } from 'vitest'
import { read } from './read.ts'

type Cell = string | number | null
/** Description, text, columns and rows of a file, and a part of a warning. */
type Shape = [what: string, text: string, names: string[], rows: Cell[][], warning?: RegExp]

const shapes: Shape[] = [
  // Delimiters
  [
    'semicolons, decimal commas and a short row',
    'd;t;a;c\n1;x;4,50;E\n2;y;3,00\n',
    ['d', 't', 'a', 'c'],
    [
      [1, 'x', '4,50', 'E'],
      [2, 'y', '3,00', null],
    ],
    /fewer than 4 cells/,
  ],
  [
    'semicolons and texts with commas',
    'a;b;c\n1;x, y;2\n2;z, w\n',
    ['a', 'b', 'c'],
    [
      [1, 'x, y', 2],
      [2, 'z, w', null],
    ],
  ],
  [
    'tabs and a short row',
    'd\tt\ta\n1\tx\t4,50\n2\ty\n',
    ['d', 't', 'a'],
    [
      [1, 'x', '4,50'],
      [2, 'y', null],
    ],
  ],
  [
    'tabs between texts with commas',
    'Last, First\tage\nLee, Ann\t5\nRay, Bob\t6\n',
    ['Last, First', 'age'],
    [
      ['Lee, Ann', 5],
      ['Ray, Bob', 6],
    ],
  ],
  [
    'semicolons, and a comma in every cell',
    'Name, first;Age, years\nLee, Ann;5, x\nRay, Bob;6, y\n',
    ['Name, first', 'Age, years'],
    [
      ['Lee, Ann', '5, x'],
      ['Ray, Bob', '6, y'],
    ],
  ],
  [
    'spaces between quoted cells',
    'a b c\n"1" "x, y" "p, q"\n"2" "z, w" "r, s"\n',
    ['a', 'b', 'c'],
    [
      [1, 'x, y', 'p, q'],
      [2, 'z, w', 'r, s'],
    ],
  ],
  [
    'spaces between quoted cells with colons',
    'a b c\n"1" "http://x/" "10:11 AM"\n"2" "http://y/" "11:12 PM"\n',
    ['a', 'b', 'c'],
    [
      [1, 'http://x/', '10:11 AM'],
      [2, 'http://y/', '11:12 PM'],
    ],
  ],
  [
    'spaces between decimal commas',
    'x y\n1,5 2,5\n3,5 4,5\n',
    ['x', 'y'],
    [
      ['1,5', '2,5'],
      ['3,5', '4,5'],
    ],
  ],
  [
    'spaces between times',
    'start end\n10:00 11:00\n12:00 13:00\n',
    ['start', 'end'],
    [
      ['10:00', '11:00'],
      ['12:00', '13:00'],
    ],
  ],
  [
    'mostly short rows',
    'a,b,c\n1,2\n3,4\n5,6,7\n',
    ['a', 'b', 'c'],
    [
      [1, 2, null],
      [3, 4, null],
      [5, 6, 7],
    ],
    /fewer than 3 cells/,
  ],
  [
    'rows of any length below their header',
    'name,age,city,job\nAnn,3\nBob,4,Oslo\nCy\nDi,6,Rome,vet\n',
    ['name', 'age', 'city', 'job'],
    [
      ['Ann', 3, null, null],
      ['Bob', 4, 'Oslo', null],
      ['Cy', null, null, null],
      ['Di', 6, 'Rome', 'vet'],
    ],
    /fewer than 4 cells/,
  ],
  [
    '|| with a | in a cell',
    'a||b\n1||x|y\n2||z\n',
    ['a', 'b'],
    [
      [1, 'x|y'],
      [2, 'z'],
    ],
    /delimiter detected: \|\|/,
  ],
  [
    '|| with an empty cell',
    'a||b||c\n1||x|y||3\n2||||4\n',
    ['a', 'b', 'c'],
    [
      [1, 'x|y', 3],
      [2, null, 4],
    ],
  ],
  [
    '§',
    'a§b\n1§x\n2§y\n',
    ['a', 'b'],
    [
      [1, 'x'],
      [2, 'y'],
    ],
  ],
  [
    '~|~',
    'a~|~b\n1~|~x\n2~|~y\n',
    ['a', 'b'],
    [
      [1, 'x'],
      [2, 'y'],
    ],
  ],
  [
    '::',
    'a::b\n1::x\n2::y\n',
    ['a', 'b'],
    [
      [1, 'x'],
      [2, 'y'],
    ],
  ],
  [
    'two tabs',
    'a\t\tb\n1\t\tx\n2\t\ty\n',
    ['a', 'b'],
    [
      [1, 'x'],
      [2, 'y'],
    ],
    /two tabs/,
  ],
  [
    'the unit separator',
    'a\x1fb\n1\x1fx\n2\x1fy\n',
    ['a', 'b'],
    [
      [1, 'x'],
      [2, 'y'],
    ],
  ],
  [
    'the delimiter of Hive',
    'a\x01b\n1\x01x\n2\x01y\n',
    ['a', 'b'],
    [
      [1, 'x'],
      [2, 'y'],
    ],
  ],
  ['a quoted line that names the delimiter', '"sep=;"\r\na;b\r\n1;2\r\n', ['a', 'b'], [[1, 2]]],
  // Quotes
  [
    'doubled single quotes',
    "a,b\n'It''s','x'\n'ok','y'\n",
    ['a', 'b'],
    [
      ["It's", 'x'],
      ['ok', 'y'],
    ],
  ],
  [
    'single quotes around commas',
    "a,b,c\n'1','It''s','x, y'\n'2','ok','x, z'\n",
    ['a', 'b', 'c'],
    [
      [1, "It's", 'x, y'],
      [2, 'ok', 'x, z'],
    ],
  ],
  [
    'lines in quotes as a whole',
    '"a,b,c"\n"1,x,3"\n"2,""y, z"",4"\n',
    ['a', 'b', 'c'],
    [
      [1, 'x', 3],
      [2, 'y, z', 4],
    ],
    /quotes around each line were removed/,
  ],
  [
    'an unclosed quote in a row that is one cell short',
    'a,b,c\n"1","x","y"\n"2","z,"w"\n"3","u","v"\n',
    ['a', 'b', 'c'],
    [
      [1, 'x', 'y'],
      [2, '"z', 'w'],
      [3, 'u', 'v'],
    ],
    /kept as text/,
  ],
  // Titles, labels and headers
  [
    'a title above two columns',
    'Population 2024\nRegion,Pop\nNorth,1\nSouth,2\n',
    ['Region', 'Pop'],
    [
      ['North', 1],
      ['South', 2],
    ],
    /line 1 was skipped/,
  ],
  [
    'a title with a comma above three columns',
    'Sales, costs\nStore,2023,2024\nA,5,6\nB,7,8\n',
    ['Store', '2023', '2024'],
    [
      ['A', 5, 6],
      ['B', 7, 8],
    ],
    /line 1 was skipped/,
  ],
  [
    'a title with a comma above texts',
    'Report for Jan 1, 2024\nName,City,Job\nAnn,Oslo,cook\nBob,Rome,vet\n',
    ['Name', 'City', 'Job'],
    [
      ['Ann', 'Oslo', 'cook'],
      ['Bob', 'Rome', 'vet'],
    ],
    /line 1 was skipped/,
  ],
  [
    'labels above a table of two columns',
    'From,2024-01-01\nTo,2024-01-31\nDate,Amount\n2024-01-02,5\n2024-01-03,6\n',
    ['Date', 'Amount'],
    [
      ['2024-01-02', 5],
      ['2024-01-03', 6],
    ],
    /lines 1 to 2 were skipped/,
  ],
  [
    'labels with an empty cell above a wider table',
    '"Konto:";"123";\n"Von:";"01.01.2024";\n"Bis:";"31.01.2024";\n"Stand:";"1,00";\n"Tag";"Text";"Betrag";"Soll";"Haben"\n"02.01.2024";"x";"1,00";"a";"b"\n"03.01.2024";"y";"2,00";"c";"d"\n',
    ['Tag', 'Text', 'Betrag', 'Soll', 'Haben'],
    [
      ['02.01.2024', 'x', '1,00', 'a', 'b'],
      ['03.01.2024', 'y', '2,00', 'c', 'd'],
    ],
    /lines 1 to 4 were skipped/,
  ],
  [
    'a header with one name fewer',
    'id,name\n1,Ann,Lee\n2,Bob,Ray\n',
    ['id', 'name', 'column_3'],
    [
      [1, 'Ann', 'Lee'],
      [2, 'Bob', 'Ray'],
    ],
    /2 names for 3 columns/,
  ],
  [
    'a header and rows with fewer cells than most',
    'sensor,value,unit\nA,1\nA,2\nB,3,C,late\nB,4,C,late\nB,5,C,late\n',
    ['sensor', 'value', 'unit', 'column_4'],
    [
      ['A', 1, null, null],
      ['A', 2, null, null],
      ['B', 3, 'C', 'late'],
      ['B', 4, 'C', 'late'],
      ['B', 5, 'C', 'late'],
    ],
    /3 names for 4 columns/,
  ],
  [
    'a header with one name fewer, above a row of as many cells',
    'time,level,text\n10:00,INFO,started\n10:10,WARN,disk full, retry\n10:20,WARN,disk full, retry\n',
    ['time', 'level', 'text', 'column_4'],
    [
      ['10:00', 'INFO', 'started', null],
      ['10:10', 'WARN', 'disk full', ' retry'],
      ['10:20', 'WARN', 'disk full', ' retry'],
    ],
    /3 names for 4 columns/,
  ],
  [
    'a title with commas above rows without names',
    'Wed, May 1, 2024\n1,2,3,4\n2,3,4,5\n3,4,5,6\n',
    ['column_1', 'column_2', 'column_3', 'column_4'],
    [
      [1, 2, 3, 4],
      [2, 3, 4, 5],
      [3, 4, 5, 6],
    ],
    /line 1 was skipped/,
  ],
  [
    'delimiters at the end of most rows',
    'id,name,note\n1,a,b\n2,c,d,\n3,e,f,\n',
    ['id', 'name', 'note'],
    [
      [1, 'a', 'b'],
      [2, 'c', 'd'],
      [3, 'e', 'f'],
    ],
    /empty cells beyond column 3/,
  ],
  [
    'a column of texts with commas',
    'coord\n59.9,10.7\n60.1,10.2\n',
    ['coord'],
    [['59.9,10.7'], ['60.1,10.2']],
    /one column/,
  ],
  ['a column of lists', 'tags\na;b\nc;d\n', ['tags'], [['a;b'], ['c;d']], /one column/],
  [
    'addresses without a header',
    'ann@x.example\nbob@x.example\ncy@x.example\n',
    ['column_1'],
    [['ann@x.example'], ['bob@x.example'], ['cy@x.example']],
    /no header/,
  ],
  [
    'times without a header',
    '10:00\n10:05\n11:00\n',
    ['column_1'],
    [['10:00'], ['10:05'], ['11:00']],
    /no header/,
  ],
  [
    'labels with values without a header',
    'host=db1\nport=5432\nuser=ann\n',
    ['column_1'],
    [['host=db1'], ['port=5432'], ['user=ann']],
    /no header/,
  ],
  [
    'the rows of Qualtrics below the names',
    'Q1,Q2\nHow?,Why?\n"{""ImportId"":""QID1""}","{""ImportId"":""QID2""}"\n5,4\n3,2\n',
    ['Q1', 'Q2'],
    [
      [5, 4],
      [3, 2],
    ],
    /Qualtrics/,
  ],
  [
    'answers below questions, as SurveyMonkey writes them',
    'ID,Colours?,,Age?\n,Red,Green,Response\n1,Red,,34\n2,,Green,41\n3,Red,,50\n',
    ['ID', 'Colours? Red', 'Colours? Green', 'Age? Response'],
    [
      [1, 'Red', null, 34],
      [2, null, 'Green', 41],
      [3, 'Red', null, 50],
    ],
    /two header rows/,
  ],
  [
    'a row of a pivot table of pandas without values',
    ',sum,mean\nregion,,\nNorth,1,2\nSouth,3,4\nWest,5,6\n',
    ['column_1', 'sum', 'mean'],
    [
      ['region', null, null],
      ['North', 1, 2],
      ['South', 3, 4],
      ['West', 5, 6],
    ],
    /column 1 has no name/,
  ],
  [
    'units with a dash over dates',
    'Date,Temp,Rain\n-,degC,mm\n2024-01-01,5,1\n2024-01-02,6,0\n',
    ['Date -', 'Temp degC', 'Rain mm'],
    [
      ['2024-01-01', 5, 1],
      ['2024-01-02', 6, 0],
    ],
    /two header rows/,
  ],
  [
    'the formats of USGS',
    'agency\tsite\tflow\n5s\t15s\t14n\nUSGS\t123\t4.5\nUSGS\t124\t5.5\n',
    ['agency', 'site', 'flow'],
    [
      ['USGS', 123, 4.5],
      ['USGS', 124, 5.5],
    ],
    /line 2 was skipped: column formats/,
  ],
  [
    'a rule below the header',
    'a,b\n---,---\n1,2\n3,4\n',
    ['a', 'b'],
    [
      [1, 2],
      [3, 4],
    ],
    /line 2 was skipped: a rule/,
  ],
  [
    'labels below names',
    'Question,Q1,Q2\nText,How?,Why?\nx,1,2\ny,3,4\nz,5,6\n',
    ['Question Text', 'Q1 How?', 'Q2 Why?'],
    [
      ['x', 1, 2],
      ['y', 3, 4],
      ['z', 5, 6],
    ],
    /two header rows/,
  ],
  // Notes
  [
    'a note below two columns',
    'City,Pop\nOslo,1\nRome,2\nBari,3\n\nSource: Stats\n',
    ['City', 'Pop'],
    [
      ['Oslo', 1],
      ['Rome', 2],
      ['Bari', 3],
    ],
    /note/,
  ],
  [
    'a note with a comma',
    'City,A,B\nOslo,1,2\nRome,3,4\nBari,5,6\n\nSource: x, y\n',
    ['City', 'A', 'B'],
    [
      ['Oslo', 1, 2],
      ['Rome', 3, 4],
      ['Bari', 5, 6],
    ],
    /note/,
  ],
  [
    'notes directly below the last row',
    'City,A,B\nOslo,1,2\nRome,3,4\nBari,5,6\nSource: x\n(1) y\n',
    ['City', 'A', 'B'],
    [
      ['Oslo', 1, 2],
      ['Rome', 3, 4],
      ['Bari', 5, 6],
    ],
    /below the last row/,
  ],
  // NUL bytes
  [
    'a NUL byte in a short file',
    't,v\n1,5\n2,\u00006\n3,7\n',
    ['t', 'v'],
    [
      [1, 5],
      [2, 6],
      [3, 7],
    ],
    /NUL/,
  ],
  // Rows in another dialect
  [
    'a row with another delimiter',
    'a,b,c\n1,x,2\n3;"y; z";4\n5,w,6\n',
    ['a', 'b', 'c'],
    [
      [1, 'x', 2],
      [3, 'y; z', 4],
      [5, 'w', 6],
    ],
    /another delimiter \(semicolon\) were split by it: line 3/,
  ],
  [
    'a row with spaces after its delimiters',
    'a,b,c\n1,"x, y",2\n3, "y, z", 4\n5,"w",6\n',
    ['a', 'b', 'c'],
    [
      [1, 'x, y', 2],
      [3, 'y, z', 4],
      [5, 'w', 6],
    ],
    /spaces before quotes were removed: line 3/,
  ],
  [
    'a space after every delimiter',
    'a, b, c\n1, "x, y", 2\n3, z, 4\n5, w, \n',
    ['a', 'b', 'c'],
    [
      [1, 'x, y', 2],
      [3, 'z', 4],
      [5, 'w', null],
    ],
    /spaces after delimiters were removed/,
  ],
  // Ordinary files that look like something else
  [
    'rows with more cells than the header, further down',
    'c\nok\nfine\na, b, c\nd, e, f\n',
    ['c'],
    [['ok'], ['fine'], ['a, b, c'], ['d, e, f']],
    /one column/,
  ],
  [
    'codes like those of USGS',
    'run,t\n1s,2s\n3s,4s\n',
    ['run', 't'],
    [
      ['1s', '2s'],
      ['3s', '4s'],
    ],
  ],
  [
    'a last row with a key alone',
    'id,a,b\nr1,x,y\nr2,x,y\nr3,x,y\nr4\n',
    ['id', 'a', 'b'],
    [
      ['r1', 'x', 'y'],
      ['r2', 'x', 'y'],
      ['r3', 'x', 'y'],
      ['r4', null, null],
    ],
    /fewer than 3/,
  ],
  [
    'a row without values below an empty one',
    'id,a,b\nr1,x,y\nr2,x,y\nr3,x,y\n,,\nr4,,\nr5,x,y\n',
    ['id', 'a', 'b'],
    [
      ['r1', 'x', 'y'],
      ['r2', 'x', 'y'],
      ['r3', 'x', 'y'],
      ['r4', null, null],
      ['r5', 'x', 'y'],
    ],
  ],
  [
    'a first row without numbers',
    'a,b,c\nX,TBD,TBD\nY,1,2\nZ,3,4\nW,5,6\n',
    ['a', 'b', 'c'],
    [
      ['X', 'TBD', 'TBD'],
      ['Y', '1', '2'],
      ['Z', '3', '4'],
      ['W', '5', '6'],
    ],
  ],
  [
    'an empty cell below an empty name',
    'group,,n\n,apple,x\nFruit,pear,y\nVeg,leek,z\n',
    ['group', 'column_2', 'n'],
    [
      [null, 'apple', 'x'],
      ['Fruit', 'pear', 'y'],
      ['Veg', 'leek', 'z'],
    ],
  ],
  [
    'words among numbers at the beginning',
    'grade,n\nPK,5\nK,few\n1,22\n2,24\n',
    ['grade', 'n'],
    [
      ['PK', '5'],
      ['K', 'few'],
      ['1', '22'],
      ['2', '24'],
    ],
  ],
  [
    'missing values as dashes',
    'k,v\n--,--\n1,2\n',
    ['k', 'v'],
    [
      ['--', '--'],
      ['1', '2'],
    ],
  ],
  [
    'dashes between pipes, further down',
    'a|b\n1|2\n-|-\n3|4\n',
    ['a', 'b'],
    [
      ['1', '2'],
      ['-', '-'],
      ['3', '4'],
    ],
  ],
  [
    'a blank line below the header',
    'name,n\n\nAnn,few\nBob,45\n',
    ['name', 'n'],
    [
      ['Ann', 'few'],
      ['Bob', '45'],
    ],
    /blank lines/,
  ],
  [
    'a header with a space',
    'name, n\nAnn,few\nBob,45\nCy,2\n',
    ['name', 'n'],
    [
      ['Ann', 'few'],
      ['Bob', '45'],
      ['Cy', '2'],
    ],
  ],
  [
    'a header that begins with #',
    '#name,city\nAnn,Oslo\nBob,Rome\n',
    ['#name', 'city'],
    [
      ['Ann', 'Oslo'],
      ['Bob', 'Rome'],
    ],
  ],
  [
    'a column of places',
    'City list\nBoston, MA\nAustin, TX\n',
    ['City list'],
    [['Boston, MA'], ['Austin, TX']],
    /one column/,
  ],
  [
    'a column of timestamps',
    'timestamp\n2024-01-01 10:00:00\n2024-01-02 11:00:00\n2024-01-03 12:00:00\n',
    ['timestamp'],
    [['2024-01-01 10:00:00'], ['2024-01-02 11:00:00'], ['2024-01-03 12:00:00']],
  ],
  [
    'a column of timestamps with a name of two words',
    'updated at\n2024-12-18 20:26:00\n2024-12-19 20:26:00\n',
    ['updated at'],
    [['2024-12-18 20:26:00'], ['2024-12-19 20:26:00']],
  ],
  ['a column of numbers with units', 'x\n5 kg\n6 kg\n', ['x'], [['5 kg'], ['6 kg']]],
  [
    '§ in texts between commas',
    'Art. §,Year\n§ 1,1999\n§ 2,2001\n',
    ['Art. §', 'Year'],
    [
      ['§ 1', 1999],
      ['§ 2', 2001],
    ],
  ],
  [
    '|| in texts between commas',
    'expr a||b,n\nx||y,1\nz||w,2\n',
    ['expr a||b', 'n'],
    [
      ['x||y', 1],
      ['z||w', 2],
    ],
  ],
  ['a column of texts with colons', 'x\na:b:c\nd:e:f\n', ['x'], [['a:b:c'], ['d:e:f']]],
  ['a column of powers', 'unit\nm^2\nm^3\ns^2\n', ['unit'], [['m^2'], ['m^3'], ['s^2']]],
  ['a column of lists of three', 'tags\na;b;c\nd;e;f\n', ['tags'], [['a;b;c'], ['d;e;f']], /one column/],
  ['a line that names a wrong delimiter', 'sep=;\na,b\n1,2\n', ['a', 'b'], [[1, 2]]],
  [
    'a quoted column of addresses',
    '"street, city, country"\n"1 Main St, Oslo, Norway"\n"2 High St, Rome, Italy"\n',
    ['street, city, country'],
    [['1 Main St, Oslo, Norway'], ['2 High St, Rome, Italy']],
  ],
  [
    'one year as a name',
    'name,2024\nA,5\nB,6\n',
    ['name', '2024'],
    [
      ['A', 5],
      ['B', 6],
    ],
  ],
  [
    'years in uneven steps as names',
    'c,1990,2000,2005,2010\nA,1,2,3,4\nB,5,6,7,8\n',
    ['c', '1990', '2000', '2005', '2010'],
    [
      ['A', 1, 2, 3, 4],
      ['B', 5, 6, 7, 8],
    ],
  ],
  [
    'a repeated header with an empty name',
    ',a\n0,x\n1,y\n,a\n2,z\n',
    ['column_1', 'a'],
    [
      [0, 'x'],
      [1, 'y'],
      [2, 'z'],
    ],
    /repeated headers/,
  ],
  [
    'years below names',
    'R,Sales,,Cost,\n,2022,2023,2022,2023\nN,1,2,3,4\nS,5,6,7,8\nE,1,1,1,1\n',
    ['R', 'Sales 2022', 'Sales 2023', 'Cost 2022', 'Cost 2023'],
    [
      ['N', 1, 2, 3, 4],
      ['S', 5, 6, 7, 8],
      ['E', 1, 1, 1, 1],
    ],
    /two header rows/,
  ],
  [
    'numbers of columns below names',
    'Name,Pop,Area\n(1),(2),(3)\nA,5,6\nB,7,8\n',
    ['Name', 'Pop', 'Area'],
    [
      ['A', 5, 6],
      ['B', 7, 8],
    ],
    /column numbers/,
  ],
  [
    'as many notes as rows',
    'Country,Cases,Deaths\nA,5,1\nB,6,2\nC,7,3\n\n\nNotes:\n1. x, y and z\n2. w\nSource: WHO\n',
    ['Country', 'Cases', 'Deaths'],
    [
      ['A', 5, 1],
      ['B', 6, 2],
      ['C', 7, 3],
    ],
    /note/,
  ],
  [
    'a line of blanks',
    'a,b\n1,x\n \n2,y\n',
    ['a', 'b'],
    [
      [1, 'x'],
      [2, 'y'],
    ],
    /blank lines/,
  ],
  [
    'missing values below a blank line',
    'name,age,n\nAnn,34,5\nBob,45,6\nCy,1,2\n\nDi,unknown,n/a\nEd,3,4\n',
    ['name', 'age', 'n'],
    [
      ['Ann', '34', '5'],
      ['Bob', '45', '6'],
      ['Cy', '1', '2'],
      ['Di', 'unknown', 'n/a'],
      ['Ed', '3', '4'],
    ],
  ],
]

const hints: [what: string, text: string, warning: RegExp][] = [
  ['text among numbers', 'a\n1\n2\n3\n12 kg\n', /line 5 holds "12 kg"$/m],
  [
    'an id among numbers',
    'a\n1\n2\n3\n007\n',
    /line 5 holds "007" \(to read it as number: --column a:number\)$/m,
  ],
  [
    'a day that does not exist',
    'a\n2024-01-01\n2024-01-02\n2024-01-03\n2024-02-30\n',
    /holds "2024-02-30"$/m,
  ],
  ['groups of digits', 'a;v\nx;1 234\ny;2 345\n', /groups of digits.*to read them: --thousands space$/m],
  [
    'groups of digits beside decimal commas',
    'a;v\n1,5;1 234\n2,5;2 345\n',
    /--decimal , --thousands space$/m,
  ],
  ['names of months and years of two digits', 'd\n31-Jan-24\n01-FEB-98\n', /--column "d:date-dmy"$/m],
  ['years of two digits at the end', 'd;n\nJan 31, 24;1\nFeb 1, 25;2\n', /--column "d:date-mdy"$/m],
]

const refused: [what: string, text: string, message: RegExp][] = [
  ['thousands that are split', 'name,amount\nA,1,234\nB,5,678\n', /line 2.*1,234 may be one number/],
  [
    'thousands before another column',
    'name,amount,cur\nA,1,234,EUR\nB,5,678,EUR\n',
    /1,234 may be one number/,
  ],
  [
    'decimal commas that are split',
    'date,price\n2024-01-01,5,50\n2024-01-02,6,75\n',
    /5,50 may be one number/,
  ],
  [
    'decimal commas below a row with fewer cells',
    'name,qty,price\nApple,2\nPear,3,4,5\nPlum,6,7,8\n',
    /line 2.*3,4 may be one number/,
  ],
  [
    'rows with fewer cells, without names',
    '1,a,b\n2,c,d\n3,e,f,x\n4,g,h,y\n',
    /line 1: 3 columns.*4 from line 3 on/,
  ],
  ['decimal commas in all columns', 'a,b\n1,5,2,5\n3,5,4,5\n', /1,5 may be one number/],
  ['a second table below empty cells', 'a,b,c\n1,2,3\n3,4,5\n,,\nx,y,\n5,6,\n', /line 5: a second table/],
  [
    'a title and the same header again',
    'Table A\na,b\n1,2\n3,4\n5,6\n\nTable B\na,b\n5,6\n7,8\n',
    /line 8: .*second table/,
  ],
  [
    'a table above another one',
    'latitude,longitude,tz\n59.9,10.7,GMT\n\ntime,temp\n2024-01-01,5.1\n2024-01-02,5.2\n',
    /line 1: 2 lines look like a table.*line 4/,
  ],
  [
    'a printed table with a bar in a value',
    '+---+-----+\n| a | b   |\n+---+-----+\n| 1 | x   |\n| 2 | y|z |\n+---+-----+\n',
    /line 5: expected 2 cells, found 3/,
  ],
  ['an HTML page', '<!DOCTYPE html>\n<html><body><table><tr><td>1</td></tr></table></body></html>\n', /HTML/],
  ['an XML file', '<?xml version="1.0"?>\n<Workbook></Workbook>\n', /XML/],
]

describe('files as people and programs write them', () => {
  it.each(shapes)('%s', async (_, text, names, rows, warning) => {
    for (const pieces of [64 * 1024, 1]) {
      const found = await read(text, {}, pieces)
      expect(found.names).toEqual(names)
      expect(found.rows).toEqual(rows)
      if (warning) expect(found.warnings.join('\n')).toMatch(warning)
    }
  })

  it.each(hints)('a warning offers only options that work: %s', async (_, text, warning) => {
    expect((await read(text)).warnings.join('\n')).toMatch(warning)
  })

  it('years of two digits after names of months are read in a given order', async () => {
    const columns = { types: new Map([['d', 'date-dmy' as const]]) }
    const { rows } = await read('d\n31-Jan-24\n01-FEB-98\n2 mars 24 10:30\n', columns)
    expect(rows).toEqual([['2024-01-31'], ['1998-02-01'], ['2024-03-02T10:30:00']])
  })

  it('an error offers a decimal comma only if there is a comma, and none is given', async () => {
    const types = { types: new Map([['v', 'number' as const]]) }
    await expect(read('v;n\n1.5;1\n2,5;2\n', types)).rejects.toMatchObject({
      hint: 'Add --decimal , if it has a decimal comma.',
    })
    const comma = { numbers: { decimal: ',', thousands: '' } as const }
    const late = `id;v\n${'1;1,5\n'.repeat(50_000)}9;5.5\n`
    await expect(read(late, comma)).rejects.toMatchObject({ hint: expect.stringMatching(/^Fix the cell/) })
  })

  it.each(refused)('the file is refused: %s', async (_, text, message) => {
    await expect(read(text)).rejects.toThrow(message)
  })
})
